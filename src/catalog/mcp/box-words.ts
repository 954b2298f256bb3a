/**
 * What a failed call of a server in a box says beside the server's own words: what the box refused,
 * and what it shows.
 */
import { AppError, type ServerConfig, type Try } from '#model'

/** One line about the box of a server, for people and models. */
export function boxWords(config: ServerConfig): string {
  if (config.type !== 'stdio') return 'elsewhere'
  const { sandbox } = config
  if (sandbox === null) return 'unconfined'
  const named = (list: readonly string[]) => (list.length === 0 ? 'nothing' : list.join(', '))
  const { folders, write, hosts } = sandbox
  return `box (${sandbox.tier}): reads ${named([...folders, ...write])}; writes ${named(write)}; reaches ${named(hosts)}`
}

/** In the words of programs, what looks like a wall. */
const looksLikeWall =
  /ENOENT|EACCES|EROFS|EPERM|ENETUNREACH|ECONNREFUSED|EAI_AGAIN|ENOTFOUND|no such file|permission denied|not permitted|read-only file system|network is unreachable|name resolution|fetch failed|proxy|403/i

/** `refused` are connections that its box did not let through meanwhile. */
export function withBoxWords(outcome: Try, config: ServerConfig, refused: readonly string[]): Try {
  if (config.type !== 'stdio' || config.sandbox === null) return outcome
  if (outcome.outcome === 'answered' && outcome.ok) return outcome
  const { error } = outcome
  if (refused.length === 0 && !looksLikeWall.test(error.message)) return outcome
  const denied = refused.length === 0 ? '' : `its box refused the connection to ${refused.join(', ')}; `
  const words = `${error.message} [${denied}the server runs in a ${boxWords(config)}; only its configuration can change that]`
  const inBoxWords = new AppError(error.code, words, error.context, error.cause)
  return { ...outcome, error: inBoxWords } as Try
}
