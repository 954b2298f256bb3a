/**
 * The surface over MCP, in both protocol eras: messages of a client enter, answers of the verbs
 * leave. What is no message, too large or against the protocol is refused with its error code.
 */
export { errorAboutRun, errorText } from './agent-answer.ts'
export { callerOf, cancelSignal } from './caller.ts'
export { exposedInputSchema } from './exposed.ts'
export { handleToolsCall, type ProtocolEra } from './handle-tools-call.ts'
export { isListenRequest, type McpEndpoint, type McpServers, openMcpEndpoint } from './mcp-endpoint.ts'
export { progressReporter } from './progress.ts'
export { runSingleCall } from './single-call-run.ts'
export { StdioTransport } from './stdio-transport.ts'
export { instructions, surface } from './surface.ts'
export { createSurfaceServer, tellOfExposed } from './surface-server.ts'
