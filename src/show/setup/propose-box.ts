/** The box that a server is known to need no more than, as `metier add` proposes it. */
import { basename, dirname, isAbsolute } from 'node:path'
import type { JsonObject } from '#model'

type ServerCommand = { args: string[]; env: Record<string, string> }
type Box = { write: string[] }

/**
 * By package or by program; tried in test/e2e and examples with the versions of
 * scripts/mcp-servers.ts.
 */
const known: Record<string, (server: ServerCommand) => Box> = {
  '@modelcontextprotocol/server-filesystem': ({ args }) => ({ write: args.filter((arg) => !arg.startsWith('-')) }),
  '@modelcontextprotocol/server-memory': ({ env }) => ({ write: folderOf(env.MEMORY_FILE_PATH) }),
  '@modelcontextprotocol/server-sequential-thinking': () => ({ write: [] }),
  '@modelcontextprotocol/server-everything': () => ({ write: [] }),
  'time-mcp': () => ({ write: [] }),
}

function folderOf(file: string | undefined): string[] {
  return file !== undefined && isAbsolute(file) ? [dirname(file)] : []
}

/** Null where nothing is known of the server. */
export function proposeBox({ command, args = [], env = {} }: JsonObject): JsonObject | null {
  if (typeof command !== 'string') return null
  const words = args as string[]
  const at = basename(command) === 'npx' ? words.findIndex((word) => !word.startsWith('-')) : -1
  const name = at < 0 ? basename(command) : words[at]!.replace(/(?<=.)@[^/@]*$/, '')
  const meant = Object.keys(known).find((one) => one === name || programOf(one) === name)
  if (meant === undefined) return null
  const { write } = known[meant]!({ args: words.slice(at + 1), env: env as Record<string, string> })
  return { tier: 'os', folders: [], write, hosts: [] }
}

/** What a package of the reference servers calls its program. */
function programOf(name: string): string {
  return name.replace(/^@modelcontextprotocol\//, 'mcp-')
}
