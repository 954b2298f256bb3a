/**
 * The driver of `ToolServer` for MCP servers: each server of the configuration with its tools, its
 * connection and what is remembered of it. In goes the configuration; out come tools and the
 * outcomes of tries. A server that cannot be asked is a problem beside the others' tools.
 */
export { clientsOf, type Entry, isStarting, type ServersOptions } from './server-entry.ts'
export { openSharedServers, type SharedServers } from './shared-servers.ts'
