/**
 * A graph of tasks as a driver of `Program`, beside code: tasks enter, turns with the calls that
 * are ready leave. Refuses a graph that is malformed, refers to tasks that do not exist, or has a
 * cycle.
 */
export { type Bound, boundsOf, sketch } from './bind.ts'
export { checkDag, lookAt, needsOf, planInvalid } from './check-dag.ts'
export { codeOf, dagProgram } from './dag-program.ts'
export { instantiate } from './instantiate.ts'
export { isOperation, operationCode } from './operation-task.ts'
