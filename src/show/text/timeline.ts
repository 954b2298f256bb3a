/**
 * A run as a person reads it: its calls in order with their times, what humans said to them, and
 * what the program did between.
 */
import { escapeInvisible, type JsonObject, type LogLine } from '#model'
import { mark, oneLine, table } from '#show/cli'
import { lineText, mayCallLines } from '#verbs'

export function timeline(shown: JsonObject): string {
  const { run, status, mode = 'run', intent, startedAt, calls, traced, logs, result, error, ms } = shown
  const began = Date.parse(String(startedAt))
  const rows = (calls as JsonObject[]).map((call) => [callRow(call, began), ...answerRows(call)])
  const between = (after: number) => operationRows(traced as Traced[], after)
  const all = [...between(0), ...rows.flatMap((of, index) => [...of, ...between(index + 1)])]
  const state = mode === 'run' ? status : `${mode}, nothing was called: ${status}`
  const head = `${mark(String(status))} ${state} · ${oneLine(String(intent ?? 'no intent'))} · ${startedAt} · run ${run}`
  const end = ms === undefined ? [] : [`after ${ms} ms: ${oneLine(JSON.stringify(result ?? error ?? null), 100)}`]
  const printed = ((logs ?? []) as LogLine[]).map((line) => `  | ${escapeInvisible(lineText(line))}`)
  return [head, ...mayCallLines(shown), table(all), ...printed, ...end].join('\n')
}

function callRow(call: JsonObject, began: number): string[] {
  const isOver = call.status === 'done' || call.status === 'failed'
  const name = call.task === undefined ? String(call.tool) : `${call.task}: ${call.tool}`
  return [
    `${call.call}`,
    `+${Date.parse(String(call.issuedAt)) - began} ms`,
    call.ms === undefined ? '' : `${call.ms} ms`,
    `${mark(String(call.status))} ${escapeInvisible(name)}`,
    oneLine(JSON.stringify(call.args), 40),
    isOver ? `→ ${oneLine(JSON.stringify(call.value ?? call.error ?? null), 50)}` : '→ …',
  ]
}

type Answered = { answer: string; who: string; from: string; args?: unknown; reason?: string; rule?: unknown }

type Approval = { asked: { approval: string }; answered?: Answered }

/** Who said what to a call, and which other arguments it got from them. */
function answerRows({ approvals, status }: JsonObject): string[][] {
  return ((approvals ?? []) as Approval[]).map(({ asked, answered }) => {
    if (answered !== undefined) return ['', '', '', `  ${oneLine(saidOf(answered), 110)}`]
    const isOpen = status === 'asking'
    return ['', '', '', isOpen ? `  waits for an answer: metier approve ${asked.approval}` : '  nobody answered']
  })
}

function saidOf({ answer, who, from, args, reason, rule }: Answered): string {
  const said = [
    `${answer} by ${who} (${from})`,
    ...(args === undefined ? [] : [`with ${JSON.stringify(args)}`]),
    ...(rule === undefined ? [] : [`and from then on: ${JSON.stringify(rule)}`]),
    ...(reason === undefined ? [] : [`because: ${reason}`]),
  ]
  return said.join(', ')
}

type Traced = { operations: string[]; after: number; dropped?: number }

/** What the program did on its own, between the calls. */
function operationRows(traced: Traced[], after: number): string[][] {
  return traced
    .filter((one) => one.after === after)
    .map(({ operations, dropped }) => {
      const more = dropped === undefined ? '' : ` and ${dropped} more`
      return ['', '', '', `· ${oneLine(operations.join(' '), 80)}${more}`]
    })
}
