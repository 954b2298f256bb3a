/**
 * The real servers of the sentences, as npm installed them with
 * `node scripts/services.ts up mcp-servers`.
 */
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Door, openDoor } from './door.ts'

export const programs = join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'metier',
  'services',
  'mcp-servers',
  'current',
  'node_modules',
  '.bin',
)
export const servers: Record<string, [program: string, ...args: string[]]> = {
  db: ['dbhub', '--transport', 'stdio', '--dsn', 'sqlite:///:memory:'],
  playwright: ['playwright-mcp', '--headless', '--isolated', '--executable-path', '/nowhere'],
  github: ['mcp-server-github'],
  chrome: ['chrome-devtools-mcp', '--no-usage-statistics', '--executable-path', '/nowhere'],
  shell: ['mcp-server-commands'],
  everything: ['mcp-server-everything'],
  fetch: ['mcp-fetch-server'],
  fs: ['mcp-server-filesystem', tmpdir()],
  git: ['git-mcp-server'],
  memory: ['mcp-server-memory'],
  thinking: ['mcp-server-sequential-thinking'],
  time: ['time-mcp'],
}

/** Servers that may do what another one of their kind is asked for. */
export const kinds = [
  ['git', 'github'],
  ['playwright', 'chrome', 'fetch'],
  ['fs', 'shell'],
]

/** A gateway with these servers. */
export function openServers(names: readonly string[]): Promise<Door> {
  return openDoor((folder) =>
    Object.fromEntries(
      names.map((name) => {
        const [program, ...args] = servers[name]!
        const env = { MEMORY_FILE_PATH: join(folder, 'memory') }
        return [name, { command: process.execPath, args: [join(programs, program), ...args], env }]
      }),
    ),
  )
}
