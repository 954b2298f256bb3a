/** The text of a program, made ready for the engine: types stripped, wrapped as the body of exactly one async function. */
import { createHash } from 'node:crypto'
import { stripTypeScriptTypes } from 'node:module'
import { AppError, limits } from '#model'

export type PreparedProgram = { source: string; digest: string }

/** The body starts on a line of its own: the user's line n is the source's line n + 1. */
const opening = '(async function () { "use strict";\n'
const closing = '\n})'

/** Part of the engine's identity: another wrapper would be another program. */
export const wrapper = opening + closing

/** Never called: its constructor parses a text as a function body alone, so that no brace in it can close the wrapper. */
const AsyncFunction = (async () => {}).constructor as new (body: string) => unknown

const bracesTriedMax = 500

export function prepareProgram(code: string): PreparedProgram {
  if (Buffer.byteLength(code) > limits.programBytesMax) {
    const message = `Cannot run the program: it is longer than ${limits.programBytesMax} bytes; shorten it or split it`
    throw new AppError('PLAN_INVALID', message, { bytes: Buffer.byteLength(code) })
  }
  const body = strip(code)
  const fault = faultOf(body)
  if (fault !== null) throw programError(fault, closingBrace(body))
  const source = opening + body + closing
  return { source, digest: createHash('sha256').update(source).digest('hex') }
}

/** Types become blanks: every character that stays keeps its line and column. */
function strip(code: string): string {
  try {
    return withoutWarning(() => stripTypeScriptTypes(opening + code + closing)).slice(opening.length, -closing.length)
  } catch (thrown) {
    const { message, stack } = thrown as Error
    throw programError(message, positionIn(stack ?? ''))
  }
}

/** The stripper is stable enough for us and digested into the record; its warning would repeat on every start. */
function withoutWarning<Value>(act: () => Value): Value {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return act()
  } finally {
    process.emitWarning = emitWarning
  }
}

function faultOf(body: string): string | null {
  try {
    new AsyncFunction(`"use strict";\n${body}\n`)
    return null
  } catch (thrown) {
    return (thrown as Error).message
  }
}

/** The stripper writes `:line`, then the lines around, then carets under the fault. */
function positionIn(stack: string): Position {
  const line = Number(/^:(\d+)\n/.exec(stack)?.[1] ?? 2) - 1
  const column = (/^( *)\^+$/m.exec(stack)?.[1]?.length ?? 0) + 1
  return { line, column }
}

type Position = { line: number; column: number }

/** Where a body that parses only inside the wrapper leaves it: at the first brace before which it is complete. */
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

function programError(fault: string, { line, column }: Position): AppError {
  const message = `Cannot read the program: ${fault} (line ${line}, column ${column}); correct it and send it again`
  return new AppError('PROGRAM_ERROR', message, { line, column })
}
