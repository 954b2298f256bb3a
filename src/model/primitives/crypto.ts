/**
 * Node's cryptography, loaded at the first need: it takes a fifth of the time in which an empty
 * program starts, and every command loads what may need it.
 */
type Crypto = typeof import('node:crypto')

let loaded: Crypto | undefined

export function crypto(): Crypto {
  loaded ??= process.getBuiltinModule('node:crypto')
  return loaded
}
