/** Calls that the engine answers itself: timers, and programs that run as a call. */
import { isCapability, programTool, timerTool } from '#model'

type Called = { tool: string; refused?: string }

export function isTimer({ tool, refused }: Called): boolean {
  return tool === timerTool && refused === undefined
}

/** What the engine does itself: no server offers it. */
export function isEngineTool(tool: string): boolean {
  return tool === timerTool || tool === programTool || isCapability(tool)
}
