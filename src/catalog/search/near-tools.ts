/** Which tools may be meant by an id that names none. */
import { tokenize } from '#catalog/index'
import { limits, nearNames, splitToolId, type Tool } from '#model'

/**
 * The same name at another server, then names of the same server (or of one that is spelled nearly
 * so) with a slip, then those that begin or end with the given words: `fs:read` is near to
 * `fs:read_file`.
 */
export function nearTools(id: string, lists: ReadonlyMap<string, readonly Tool[]>): string[] {
  const { server, name } = splitToolId(id) ?? { server: null, name: id }
  const all = [...lists.values()].flat()
  const servers = server === null || lists.has(server) ? [server] : nearNames(server, lists.keys())
  const own = all.filter((tool) => servers.includes(tool.server) || server === null)
  const slips = nearNames(name, new Set(own.map((tool) => tool.name)))
  const found = [
    ...own.filter((tool) => tool.name === name),
    ...all.filter((tool) => tool.name === name),
    ...own.filter((tool) => slips.includes(tool.name)),
    ...own.filter((tool) => isPart(tokenize(name), tokenize(tool.name))),
  ]
  return [...new Set(found.map((tool) => tool.id))].slice(0, limits.nearToolsMax)
}

/** The words of one name stand at the start or at the end of the other. */
function isPart(one: readonly string[], other: readonly string[]): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  if (short.length === 0) return false
  const isAt = (start: number) => short.every((word, at) => word === long[start + at])
  return isAt(0) || isAt(long.length - short.length)
}
