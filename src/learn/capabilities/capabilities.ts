/**
 * Programs and graphs that ran well become procedures: their parameters, names, status and
 * verification.
 */
export { hasSecret } from './anti-unify.ts'
export { applyToCapabilities, type Capability, capabilityEvents, idOf } from './capability-status.ts'
export {
  capabilitiesToDemote,
  capabilitiesToLearn,
  type KnownShape,
  posteriorOf,
  type RunCall,
  reachOf,
} from './decide-capabilities.ts'
export { interventionOf } from './intervention.ts'
export { fixedPlaces, shapeOfSource } from './lifted-shape.ts'
export { argumentsOfRun } from './make-capability.ts'
export { type HomeCapabilities, openCapabilities } from './open-capabilities.ts'
