/** One box of a script: its walls, its view of files, its limits, its life, and its outputs. */

export { type Box, type End, openBox } from './box.ts'
export { parseBoxPath, refuseOverlaps } from './box-path.ts'
export { type BoxPlan, type Driver, scriptBounds } from './box-plan.ts'
export { bubblewrapDriver } from './bubblewrap.ts'
export { makeGroup, type Places } from './cgroup.ts'
export { findPlaces, reapGroups } from './cgroup-places.ts'
export { type Bind, openView, type View } from './filesystem-view.ts'
export { gvisorDriver, platforms } from './gvisor.ts'
export {
  giveOutputs,
  handOut,
  type MissingOutput,
  type OnOutput,
  parseOutputs,
  type Received,
  type ScriptOutput,
} from './outputs.ts'
export { removeOldSkeletons } from './skeleton.ts'
export { type WorkspaceView, withWorkspace, workspacePlace, writeWorkspace } from './workspace-view.ts'
