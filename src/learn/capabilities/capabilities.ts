/**
 * Programs and graphs that ran well become procedures: their parameters, names, status and
 * verification.
 */
export { hasSecret } from './anti-unify.ts'
export {
  applyToCapabilities,
  type Capability,
  capabilityEvents,
  checkedAgain,
  fixturesOf,
  idOf,
  isUsable,
} from './capability-status.ts'
export {
  capabilitiesToDemote,
  capabilitiesToLearn,
  interventionOf,
  type KnownShape,
  posteriorOf,
  type RunCall,
  reachOf,
} from './decide-capabilities.ts'
export { argumentsOfRun, fixedPlaces, shapeOfSource } from './make-capability.ts'
export { type HomeCapabilities, openCapabilities } from './open-capabilities.ts'
export { withoutValues } from './shared-capability.ts'
