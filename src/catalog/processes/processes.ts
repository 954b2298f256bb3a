/**
 * The processes of servers: every process that a server starts ends with it, and with us, however
 * we end. In go process groups; out comes the certainty that nothing of them is left.
 */
export { descendantsOf, isAlive, killAll, processOf } from './descendants.ts'
export { endOrphansOf } from './orphan-servers.ts'
export { endMarked } from './process-marks.ts'
export { enterScript, openServerReaper, type ServerReaper } from './server-reaper.ts'
