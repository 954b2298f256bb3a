/**
 * An MCP server made with the SDK, for tests of both protocol eras: over stdio as a program, over
 * HTTP as a handler.
 */
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

function build(): McpServer {
  const server = new McpServer({ name: 'eras', version: '1.0.0' })
  const echo = { description: 'Say the same word again.', inputSchema: z.object({ word: z.string() }) }
  server.registerTool('echo', { ...echo, annotations: { readOnlyHint: true } }, ({ word }) => ({
    content: [{ type: 'text', text: word }],
  }))
  server.registerTool('fail', { description: 'Fail.' }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'no' }],
  }))
  server.registerTool('grow', { description: 'Have one tool more.' }, () => {
    server.registerTool('grown', { description: 'A tool that came later.' }, () => ({ content: [] }))
    return { content: [] }
  })
  return server
}

/** `legacy: 'reject'` speaks the modern era only. */
export function handler(legacy: 'stateless' | 'reject') {
  return createMcpHandler(build, { legacy })
}

if (import.meta.main) serveStdio(build, { legacy: process.env.LEGACY === 'reject' ? 'reject' : 'serve' })
