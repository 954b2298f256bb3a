/**
 * Variables inside a configuration's strings, in the three syntaxes that hosts use, and the secrets
 * that come in with them.
 */
import { limits } from '#model/limits'

export type Expansion = {
  env: Record<string, string | undefined>
  directory: string
  secrets: Set<string>
  unset: Set<string>
}

/** Variables that say where and who, not what to keep quiet about. */
const publicVariable = /^(?:HOME|USER|LOGNAME|PATH|SHELL|LANG|LC_\w+|TERM|TMPDIR|HOSTNAME|XDG_\w+)$/

/**
 * `${VAR}`, `${VAR:-default}`, `${env:VAR}`, and the file's own folder as `${PWD}` or
 * `${workspaceFolder}`.
 */
export function expand(expansion: Expansion, text: string): string {
  return text.replace(/\$\{(env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (whole, prefix, name: string, byDefault) => {
    if (prefix === undefined && (name === 'PWD' || name === 'workspaceFolder')) return expansion.directory
    const value = expansion.env[name]
    // As in a shell, `:-` also stands in for an empty value.
    if (byDefault !== undefined && (value === undefined || value === '')) return byDefault
    if (value === undefined) {
      expansion.unset.add(name)
      return whole
    }
    if (!publicVariable.test(name)) addSecret(expansion, value)
    return value
  })
}

const secretName =
  /token(?!i[sz])|secret|passw|passphrase|credential|authorization|cookie|bearer|private|api_?key|(?:^|_)(?:key|pat|auth|pwd)$/

/**
 * Whether what stands under this name is to be kept quiet about: `GITHUB_TOKEN`, `x-api-key`,
 * `apiKey`.
 */
export function isSecretName(name: string): boolean {
  return secretName.test(
    name
      .replace(/([a-z])([A-Z])/g, '$1_$2')
      .replaceAll('-', '_')
      .toLowerCase(),
  )
}

/** Takes down the values of secret-looking names; of `Bearer x` also x alone. */
export function collectSecrets(expansion: Expansion, pairs: Iterable<[string, string]>): void {
  for (const [name, value] of pairs) {
    if (!isSecretName(name)) continue
    addSecret(expansion, value)
    const scheme = /^(?:Bearer|Basic|Token|ApiKey|Digest)\s+(.+)$/i.exec(value)
    if (scheme !== null) addSecret(expansion, scheme[1]!)
  }
}

function addSecret(expansion: Expansion, value: string): void {
  const unresolved = /^\$\{[^}]*\}$/.test(value)
  if (value.length >= limits.secretBytesMin && !unresolved) expansion.secrets.add(value)
}
