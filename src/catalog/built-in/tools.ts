/** Every built-in tool, each in a file of its own that is named after it. */
import { executeScriptInSandbox } from './execute-script-in-sandbox.ts'
import type { BuiltInTool } from './tool.ts'

export const builtInTools: readonly BuiltInTool[] = [executeScriptInSandbox]
