/**
 * One upstream server in place of the surface: a client's requests enter and are passed on, every
 * tools/call as a run of one call. What the server does not announce is not passed.
 */
export {
  openPassthroughConnection,
  type PassthroughConnection,
  passthroughServers,
} from './passthrough-endpoint.ts'
