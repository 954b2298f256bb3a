/**
 * The text of a program, made ready for the engine: types stripped, wrapped as the body of exactly
 * one async function.
 */
import { AppError, programClosing as closing, limits, programOpening as opening, sha256 } from '#model'
import { type Position, strip } from './strip.ts'

export { warmStripper } from './strip.ts'
export { strippedInside } from './strip-inside.ts'

export type PreparedProgram = { source: string; digest: string }

/** Part of the engine's identity: another wrapper would be another program. */
export const wrapper = opening + closing

/**
 * Never called: its constructor parses a text as a function's body alone, so that no brace in it
 * can close the wrapper.
 */
const AsyncFunction = (async () => {}).constructor as new (body: string) => unknown

/** Only for the words of the refusal, which is certain by then. */
const bracesTriedMax = 500

export function prepareProgram(code: string): PreparedProgram {
  const bytes = Buffer.byteLength(code)
  if (bytes > limits.programBytesMax) {
    const message = `Cannot read the program: it has ${bytes} bytes, ${limits.programBytesMax} are allowed; split it`
    throw new AppError('PLAN_INVALID', message, { bytes })
  }
  const stripped = strip(opening + code + closing)
  if ('fault' in stripped) throw unreadable(stripped.fault, inBody(stripped.position, code))
  const body = stripped.text.slice(opening.length, -closing.length)
  const fault = faultOf(body)
  if (fault !== null) throw unreadable(fault, closingBrace(body))
  const source = opening + body + closing
  return { source, digest: sha256(source) }
}

/** From the wrapped text to the user's; what is missing after its end is missing at its end. */
function inBody(position: Position | null, code: string): Position {
  if (position === null) return { line: 1, column: 1 }
  const lines = code.split('\n')
  const line = Math.max(1, position.line - 1)
  return line <= lines.length ? { ...position, line } : { line: lines.length, column: lines.at(-1)!.length + 1 }
}

/** Why a text cannot be a function's body; null where it can. */
function faultOf(body: string): string | null {
  try {
    new AsyncFunction(`"use strict";\n${body}\n`)
    return null
  } catch (thrown) {
    return (thrown as Error).message
  }
}

/**
 * Where a body that was readable only inside the wrapper leaves it: at the first brace before which
 * it is complete.
 */
function closingBrace(body: string): Position {
  let tried = 0
  for (let at = body.indexOf('}'); at >= 0 && tried < bracesTriedMax; at = body.indexOf('}', at + 1)) {
    tried += 1
    if (faultOf(body.slice(0, at)) !== null) continue
    const before = body.slice(0, at).split('\n')
    return { line: before.length, column: before.at(-1)!.length + 1 }
  }
  return { line: 1, column: 1 }
}

function unreadable(fault: string, { line, column }: Position): AppError {
  const message = `Cannot read the program: ${fault} (line ${line}, column ${column}); correct it and send it again`
  return new AppError('PROGRAM_ERROR', message, { line, column })
}
