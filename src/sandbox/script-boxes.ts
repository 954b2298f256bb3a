/** Script boxes, closed with the same kind of filter as the boxes of programs. */
import { openScriptBoxesWith, type ScriptBoxes, type ScriptBoxesOptions } from './script/boxes.ts'
import { scriptFilter, scriptRefusals } from './seccomp.ts'

export function openScriptBoxes(options: ScriptBoxesOptions): ScriptBoxes {
  return openScriptBoxesWith({ program: scriptFilter(), names: scriptRefusals }, options)
}
