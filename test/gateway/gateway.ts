/**
 * What the tests of the gateway share: verbs in memory, clients of both eras, an issuer of tokens.
 */
export * from './http-clients.ts'
export * from './issuer.ts'
export * from './stand-in.ts'
