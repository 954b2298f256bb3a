/** What a session does, in a few words for a person who looks on; the record has it whole. */

import { type ProtocolName, type Ran, type Reading, readRebound, readToolCode } from '#agent/protocol'
import { isObject, type JsonObject } from '#model'

/** An answer of the model: what it thinks, what it wants done, and what it cost. */
export function answerWords(protocol: ProtocolName, { text, toolCalls, usage }: JsonObject): string {
  const { inputTokens, outputTokens } = usage as { inputTokens: number | null; outputTokens: number | null }
  const calls = toolCalls as { name: string; args: unknown }[]
  const read = protocol === 'rebound' ? readRebound : readToolCode
  const words = calls.length > 0 ? toolWords(String(text), calls) : readingWords(read(String(text)))
  return `${words} (${(inputTokens ?? 0) + (outputTokens ?? 0)} tokens)`
}

function toolWords(text: string, calls: { name: string; args: unknown }[]): string {
  const named = calls.map(({ name, args }) => {
    const intent = isObject(args) && typeof args.intent === 'string' ? ` "${short(args.intent)}"` : ''
    return `uses ${name}${intent}`
  })
  return [short(text), ...named].filter((part) => part !== '').join(' → ')
}

function readingWords(reading: Reading): string {
  if (reading.kind === 'mistake') return 'an answer that cannot be used'
  const thought = short(reading.thought)
  if (reading.kind === 'tool') return [thought, 'runs a script'].filter((part) => part !== '').join(' → ')
  const writes = reading.drafts.map(({ path }) => `writes ${path}`)
  const acts = reading.kind === 'script' ? [`runs ${reading.target}`] : ['is done']
  return [thought, ...writes, ...acts].filter((part) => part !== '').join(' → ')
}

/** A call that was answered: what came of it. */
export function callWords(tool: string, { path }: JsonObject, value: JsonObject): string {
  if (tool === 'workspace:run') return runWords(String(path), value as Ran)
  if (tool.startsWith('workspace:write')) {
    const kept = isObject(value.kept) ? `; what was there is ${value.kept.path} now` : ''
    return `wrote ${value.path}, ${value.bytes} bytes${kept}`
  }
  if (tool === 'workspace:discover') return `found ${foundIn(value)}`
  const name = tool.replace(/^workspace:/, '')
  return `${name} answered ${short(JSON.stringify(value))}`
}

function runWords(path: string, { returncode, stdout, stderr, artifacts = [] }: Ran): string {
  const printed = returncode === 0 ? stdout : stderr.trim().split('\n').at(-1)!
  const end = typeof returncode === 'number' ? `return code ${returncode}` : returncode
  const left = artifacts.length === 0 ? [] : [`${artifacts.length} output${artifacts.length === 1 ? '' : 's'} stored`]
  return [`ran ${path}: ${end}`, short(printed), ...left].filter((part) => part !== '').join(' · ')
}

function foundIn({ results }: JsonObject): string {
  const ids = Array.isArray(results) ? results.flatMap((one) => (isObject(one) ? [String(one.id)] : [])) : []
  return ids.length === 0 ? 'nothing' : short(ids.join(', '))
}

/** One line, at its first words. */
function short(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}
