/**
 * Scripts in boxes: a request enters and is checked, a box of its tier and language is taken from a
 * pool or made, and what leaves is an outcome with the files that were asked for.
 */
export { chosenImage, openImage, rememberImage } from './image.ts'
export type { ScriptInput } from './inputs.ts'
export type { ScriptResult } from './outcome.ts'
export { parseRequest as checkScriptRequest, type ScriptRequest } from './request.ts'
export { openScriptBoxes, type ScriptBoxes, type ScriptBoxesOptions } from './script-boxes.ts'
