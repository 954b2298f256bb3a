/**
 * The MCP servers that others wrote and tests start, the hosts that use us, and the suite that
 * holds us to the protocol, at the versions that were tested.
 */
import type { Packages } from './npm-packages.ts'

export const mcpServers: Packages = {
  '@bytebase/dbhub': '1.4.0',
  '@cyanheads/git-mcp-server': '2.15.3',
  '@modelcontextprotocol/server-everything': '2026.8.31',
  '@modelcontextprotocol/server-filesystem': '2026.8.31',
  '@modelcontextprotocol/server-github': '2025.4.8',
  '@modelcontextprotocol/server-memory': '2026.8.31',
  '@modelcontextprotocol/server-sequential-thinking': '2026.8.31',
  '@playwright/mcp': '0.0.83',
  'chrome-devtools-mcp': '1.11.0',
  'mcp-fetch-server': '1.1.2',
  'mcp-server-commands': '0.5.0',
  'time-mcp': '1.0.6',
}

export const conformance: Packages = { '@modelcontextprotocol/conformance': '0.2.0-alpha.12' }

export const hosts: Packages = { '@anthropic-ai/claude-code': '2.1.325', '@openai/codex': '0.166.0' }
