/**
 * What a run starts with: a request enters, checked against the catalogue and the capabilities that
 * it names, and the body of its first event leaves, also that of a fork. Refuses a plan that is
 * certainly wrong before anything runs.
 */
export {
  type CallableCapability,
  type Capabilities,
  CapabilityPins,
  noCapabilities,
  pinCapabilities,
  planOfSource,
  withPlan,
} from './capability-calls.ts'
export { checkPlan } from './check-plan.ts'
export { copyEvents, editOf, eventsBefore, forkedBody } from './fork.ts'
export {
  type AskedPlan,
  type AskedRequest,
  checkServers,
  type RunRequest,
  redactRequest,
  secretsOf,
  startedBody,
} from './run-started.ts'
export { isSameRequest } from './same-request.ts'
export { startByKey } from './start-by-key.ts'
