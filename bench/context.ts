/**
 * What a host pays in context: our three tools and instructions against a list of every tool of
 * twelve real servers.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatalog } from '#catalog'
import { instructions, surface } from '#gateway'
import { parseConfig } from '#model'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')
const programs = join(cache, 'mcp-servers', 'current', 'node_modules', '.bin')
/**
 * No host tells how many tokens a tool is: four bytes of its JSON to one token is what is usual for
 * English and schemas.
 */
const bytesPerToken = 4
const instructionCharactersMax = 600

const servers: Record<string, string[]> = {
  dbhub: ['--transport', 'stdio', '--dsn', 'sqlite:///:memory:'],
  'playwright-mcp': ['--headless', '--isolated', '--executable-path', '/nowhere'],
  'mcp-server-github': [],
  'chrome-devtools-mcp': ['--no-usage-statistics', '--executable-path', '/nowhere'],
  'mcp-server-commands': [],
  'mcp-server-everything': [],
  'mcp-fetch-server': [],
  'mcp-server-filesystem': [tmpdir()],
  'git-mcp-server': [],
  'mcp-server-memory': [],
  'mcp-server-sequential-thinking': [],
  'time-mcp': [],
}

/** As a host gives a tool to its model: its name, what it does, and what it takes. */
type Listed = { name: string; description: string; inputSchema: unknown }

function tokensOf(tools: Listed[], text = ''): number {
  const bytes = tools.reduce((sum, tool) => sum + Buffer.byteLength(JSON.stringify(tool)), Buffer.byteLength(text))
  return Math.ceil(bytes / bytesPerToken)
}

if (!existsSync(programs)) {
  console.error('This bench needs mcp-servers: node scripts/services.ts up mcp-servers')
  process.exit(1)
}
const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
const mcpServers = Object.fromEntries(
  Object.entries(servers).map(([name, args]) => [
    name,
    {
      command: process.execPath,
      args: [join(programs, name), ...args],
      env: { MEMORY_FILE_PATH: join(folder, 'memory') },
    },
  ]),
)
const text = JSON.stringify({ mcpServers })
const config = parseConfig({ file: join(folder, 'metier.json'), text, home: folder, env: {}, directory: folder })
const catalog = openCatalog({ servers: config.servers, folder, baseEnv: { PATH: process.env.PATH!, HOME: folder } })
try {
  const { tools, problems } = await catalog.tools()
  if (problems.length > 0)
    throw new Error(`Not every server answered: ${problems.map(({ server }) => server).join(', ')}`)
  const listed = tools.map(({ name, description, input }) => ({ name, description, inputSchema: input }))
  const ours = surface.map(({ name, description = '', inputSchema }) => ({ name, description, inputSchema }))
  const figures = {
    servers: Object.keys(servers).length,
    tools: tools.length,
    allTokens: tokensOf(listed),
    oursTokens: tokensOf(ours, instructions),
    instructionCharacters: instructions.length,
    bar: instructionCharactersMax,
  }
  const { allTokens, oursTokens, instructionCharacters } = figures
  if (process.argv.includes('--json')) console.log(JSON.stringify(figures))
  else {
    console.log(`tokens taken as bytes / ${bytesPerToken} of each tool's name, description and input schema`)
    console.log(`all ${tools.length} tools of ${figures.servers} servers  ${allTokens} tokens`)
    console.log(
      `three tools and instructions  ${oursTokens} tokens, ${((oursTokens / allTokens) * 100).toFixed(1)} % of that`,
    )
    console.log(`instructions  ${instructionCharacters} characters (bar ${instructionCharactersMax})`)
  }
  if (instructionCharacters > instructionCharactersMax) process.exitCode = 1
} finally {
  await catalog.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
