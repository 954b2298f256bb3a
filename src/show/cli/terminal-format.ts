/** How things look at a terminal: tables, times, and the few lines that say how a run went. */
import { escapeInvisible, type IsolationReport, type JsonObject, stripVTControlCharacters, styleText } from '#model'

export const strong = (text: string) => styleText('bold', text)
export const faint = (text: string) => styleText('dim', text)
export const good = (text: string) => styleText('green', text)
export const bad = (text: string) => styleText('red', text)
export const warn = (text: string) => styleText('yellow', text)

/** Columns are as wide as what others stand beside: the last cell of a row may run on. */
export function table(rows: readonly (readonly string[])[]): string {
  const widthOf = (cell: string) => stripVTControlCharacters(cell).length
  const widths: number[] = []
  for (const row of rows) {
    for (const [i, cell] of row.slice(0, -1).entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell))
  }
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(widths[i]! - widthOf(cell))))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export function counted(count: unknown, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

export function oneLine(text: string, charactersMax = 100): string {
  const flat = escapeInvisible(text.replaceAll(/\s+/g, ' ').trim())
  return flat.length > charactersMax ? `${flat.slice(0, charactersMax - 1)}…` : flat
}

const marks: Record<string, string> = {
  done: good('✓'),
  failed: bad('✗'),
  cancelled: bad('✗'),
  approval_required: warn('?'),
  uncertain: warn('?'),
  interrupted: warn('…'),
  running: warn('…'),
}

export function mark(status: string): string {
  return marks[status] ?? '·'
}

/** What a person reads of an answer of execute: the result on stdout is not part of it. */
export function summary(answer: JsonObject): string {
  const { run, callCount, ms, isolation } = answer
  const status = answer.interrupted === true ? 'interrupted' : answer.status
  const box = isolation as Pick<IsolationReport, 'tier' | 'degraded'> | null
  const tier = box === null ? '' : ` · ${box.tier} sandbox`
  const isReal = answer.mode === undefined
  const state = isReal
    ? `${mark(String(status))} ${status}`
    : `${faint('≈')} ${answer.mode}, nothing was called: ${status}`
  const lines = [`${state} · ${counted(callCount, 'call')} · ${ms} ms${tier} · run ${run}`]
  // The weakest box is named each time.
  if (box?.tier === 'wasm') lines.push(...box.degraded.map((what) => warn(`  weaker   ${what}`)))
  const error = answer.error as { code: string; message: string } | undefined
  if (error !== undefined) lines.push(`  ${bad(error.code)} ${escapeInvisible(error.message)}`)
  for (const { tool, args, why, command } of (answer.approvals ?? []) as Record<string, string>[]) {
    lines.push(
      `  ${escapeInvisible(tool!)} ${oneLine(JSON.stringify(args))}`,
      `    asks because: ${escapeInvisible(why!)}`,
      `    ${command}`,
    )
  }
  if (status === 'uncertain') lines.push(...doubts(answer))
  if (answer.handle !== undefined) lines.push(`  ${answer.bytes} bytes: metier result ${run}`)
  if (status === 'interrupted' || status === 'running')
    lines.push(`  not finished; go on with: metier run resume ${run}`)
  return lines.join('\n')
}

function doubts({ run, calls }: JsonObject): string[] {
  return (calls as { call: string; tool: string; args: unknown }[]).flatMap(({ call, tool, args }) => [
    `  call ${call}: ${escapeInvisible(tool)} ${oneLine(JSON.stringify(args))} was sent, and its outcome is unknown; say what happened:`,
    `    metier run settle ${run} --call ${call} --done JSON | --failed TEXT | --again`,
  ])
}
