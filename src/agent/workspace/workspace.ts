/**
 * The files of a workspace: paths are judged, read and written without following a link, and what
 * scripts must not see is found. Refuses whatever would lead out of the folder.
 */
export { appendPlain, readPlain, replacePlain, stepFolder, writePlain } from './workspace-files.ts'
export { guardedIn, hiddenIn } from './workspace-masks.ts'
export { partsOf, refused } from './workspace-path.ts'
