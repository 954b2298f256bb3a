/**
 * The MCP client: opens a connection to a server in the protocol era it speaks, lists and calls its
 * tools, and holds conversations for single clients of ours. In go a server's configuration and
 * requests; out come lists and the three outcomes of a try.
 */
export { boxWords } from './box-words.ts'
export { ClientConversation, type ClientConversationOptions } from './client-conversation.ts'
export type { Era, ToolDefinition } from './connect.ts'
export type { Listing } from './list-tools.ts'
export { McpClient, type McpClientOptions } from './mcp-client.ts'
export { passableCapabilities, type ServerInfo, serverInfoOf } from './peer.ts'
