/** Fields of the configuration that nothing reads. */
import type { Config } from '#model'

/**
 * What other hosts say of their servers need not concern us; any other field is a mistake, maybe in
 * what was to be forbidden.
 */
export function unreadOurs({ unknownFields }: Config): string[] {
  return unknownFields.filter((path) => !/^\/(?:mcpServers|servers)\//.test(path))
}
