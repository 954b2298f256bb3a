/**
 * Prints an answer of execute: the result on stdout, whole where a program or a file reads it, and
 * the rest on stderr.
 */
import { escapeInvisible, type JsonObject, type LogLine } from '#model'
import type { Context } from '#show/cli'
import { exitOfAnswer, faint, oneLine, summary, writeTo } from '#show/cli'
import { lineText, mayCallLines } from '#verbs'

/** The exit code is the run's, where the run went on. */
export async function printAnswer(
  context: Context,
  pending: Promise<JsonObject>,
  code = exitOfAnswer,
): Promise<number> {
  const answer = await pending
  const file = context.options.output as string | undefined
  if (file !== undefined && answer.status === 'done') writeTo(file, `${await wholeText(context, answer)}\n`)
  if (context.json) context.print(JSON.stringify(answer))
  else await printForPerson(context, answer, file)
  return code(answer)
}

async function printForPerson(context: Context, answer: JsonObject, file: string | undefined): Promise<void> {
  await printLogs(context, answer)
  const text = file === undefined ? await resultText(context, answer) : undefined
  if (text !== undefined) context.print(text)
  for (const line of [...mayCallLines(answer), ...wouldCallLines(answer)]) context.note(line)
  if (answer.run !== undefined) context.note(summary(answer))
  if (file !== undefined && answer.status === 'done') context.note(`  written to ${file}`)
}

async function resultText(context: Context, answer: JsonObject): Promise<string | undefined> {
  const { result, preview, suggestion } = answer
  if (result !== undefined) return escapeInvisible(JSON.stringify(result, null, 2))
  if (suggestion !== undefined) {
    const { suggestionText } = await import('./suggestion-text.ts')
    return suggestionText(suggestion as Parameters<typeof suggestionText>[0])
  }
  if (preview === undefined) return undefined
  return context.isTerminal ? escapeInvisible(`${preview}…`) : wholeText(context, answer)
}

/** As JSON text, the same whether it fits into an answer or not. */
async function wholeText(context: Context, { run, result }: JsonObject): Promise<string> {
  return result === undefined ? (await context.verbs()).resultText({ run }) : JSON.stringify(result)
}

/** Everything that the program printed: an answer has only the last lines. */
async function printLogs(context: Context, { run, logs }: JsonObject): Promise<void> {
  if (logs === undefined) return
  const shown = await (await context.verbs()).run(String(run))
  for (const line of shown.logs as LogLine[]) context.note(faint(escapeInvisible(lineText(line))))
}

type DryCall = { call: string; tool: string; args?: unknown }

/** What a dry run would have called, with the arguments that it had for it. */
function wouldCallLines({ mode, calls }: JsonObject): string[] {
  if (mode !== 'dry-run') return []
  const lines = ((calls ?? []) as DryCall[]).map(
    ({ call, tool, args }) => `  ${call}  ${escapeInvisible(tool)} ${oneLine(JSON.stringify(args ?? {}), 160)}`,
  )
  return lines.length === 0 ? ['would call nothing'] : ['would call:', ...lines]
}
