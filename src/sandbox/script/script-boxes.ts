/** Script boxes, closed with the same kind of filter as the boxes of programs. */

import { scriptFilter, scriptRefusals } from '#sandbox/host'
import { openScriptBoxesWith, type ScriptBoxes, type ScriptBoxesOptions } from './open-script-boxes.ts'

export function openScriptBoxes(options: ScriptBoxesOptions): ScriptBoxes {
  return openScriptBoxesWith({ program: scriptFilter(), names: scriptRefusals }, options)
}
