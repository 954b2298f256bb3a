/** The recipe for MCP servers that others wrote: installed once from npm at the versions that were tested; tests start them. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const packages: Record<string, string> = {
  '@cyanheads/git-mcp-server': '2.15.3',
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
  '@modelcontextprotocol/server-memory': '2026.8.31',
  '@modelcontextprotocol/server-sequential-thinking': '2026.8.31',
  'chrome-devtools-mcp': '1.11.0',
  'mcp-fetch-server': '1.1.2',
  'mcp-server-commands': '0.5.0',
  'time-mcp': '1.0.6',
}
const manifest = `${JSON.stringify({ private: true, dependencies: packages }, null, 2)}\n`

export type ServersPlace = { folder: string; path: string; say(line: string): void }

/** Beside its place first, so that a killed install leaves nothing that looks ready. None of their own scripts is run. */
export function installMcpServers({ folder, path, say }: ServersPlace): void {
  if (probeMcpServers(folder) === null) return
  say(`installing ${Object.keys(packages).length} packages from npm (once)`)
  const draft = mkdtempSync(join(folder, 'install-'))
  try {
    writeFileSync(join(draft, 'package.json'), manifest)
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const env = { ...process.env, PATH: path }
    const { status, stderr, error } = spawnSync('npm', args, { cwd: draft, env, encoding: 'utf8' })
    if (status !== 0) throw new Error(`Cannot install the MCP servers: ${error?.message ?? stderr.trim()}`)
    rmSync(join(folder, 'current'), { recursive: true, force: true })
    renameSync(draft, join(folder, 'current'))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

export function probeMcpServers(folder: string): string | null {
  const file = join(folder, 'current', 'package.json')
  const isCurrent = existsSync(file) && readFileSync(file, 'utf8') === manifest
  return isCurrent ? null : 'they are not installed'
}
