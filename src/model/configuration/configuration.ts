/** The configuration: its types, and the one parser that reads, expands and refuses it. */
export type { AwsChain } from './aws-chain.ts'
export { awsFiles } from './aws-keys.ts'
export * from './config.ts'
export { type HomePaths, homePaths } from './home-paths.ts'
export { parseJsonc } from './jsonc.ts'
export { keyVariables } from './parse-agent.ts'
export * from './parse-config.ts'
export { isSecretName } from './variables.ts'
