/** A session read from its record: its steps, its files, and what was said. */

import { type AgentPlan, isMistakeFeedback, type Ran, reboundFeedback, type StoredOutput } from '#agent/protocol'
import { type Event, type Json, type JsonObject, type RunStatus, type Stored, sha256 } from '#model'
import { answerWords, callWords } from './session-words.ts'

/** `event` is the number of the event that says so. */
type SessionFile = { path: string; sha256: string; bytes: number; step: number; event: number }
type SessionOutput = StoredOutput & { step: number; event: number }
/** Where something stands in the record, and the digest of its JSON text there. */
type PayloadRef = { n: number; member: 'args' | 'answer'; sha256: string }
/** `text` is what was said, whole; `does` the same in a few words. */
type Utterance = {
  at: string
  step: number
  role: 'user' | 'assistant' | 'system' | 'final'
  text: string
  does: string
  /** Of an answer of the model: the raw request, and what the provider said to it. */
  payload_ref?: { request: PayloadRef; answer?: PayloadRef }
}

export type SessionView = {
  session: string
  plan: AgentPlan
  status: RunStatus
  startedAt: string
  endedAt: string | null
  steps: number
  tokens: { input: number; output: number }
  cost: number | null
  files: SessionFile[]
  /** What scripts left below `/outputs`, stored as artifacts. */
  outputs: SessionOutput[]
  said: Utterance[]
  /** Model calls that were sent more than once: each may have been asked twice. */
  repeated: { call: string; tries: number }[]
}

type Reads = (member: Stored<unknown>) => string

/** `status` as the run's row has it: no event says that its owner is gone. */
export function viewSession(events: readonly Event[], status: RunStatus, text: Reads): SessionView {
  const [first] = events as [Event<'run.started'>]
  const plan = (JSON.parse(text(first.body.plan)) as { source: AgentPlan }).source
  const last = events.at(-1)!
  const view: SessionView = {
    session: first.run,
    plan,
    status,
    startedAt: first.at,
    endedAt: last.type === 'run.finished' ? last.at : null,
    steps: 0,
    tokens: { input: 0, output: 0 },
    cost: null,
    files: [],
    outputs: [],
    said: [{ at: first.at, step: 0, role: 'user', text: plan.goal, does: plan.goal }],
    repeated: [],
  }
  const issued = new Map<string, Issued>()
  for (const event of events) see(view, issued, event, text)
  return view
}

type Issued = { tool: string; args: Stored<unknown>; step: number; n: number }

function see(view: SessionView, issued: Map<string, Issued>, event: Event, text: Reads): void {
  if (event.type === 'call.issued' && !event.body.call.includes('.')) {
    const { call, tool, args } = event.body
    if (tool.startsWith('model:')) {
      noteMistake(view, event.at, text(args as Stored<unknown>))
      view.steps += 1
    }
    issued.set(call, { tool, args: args as Stored<unknown>, step: view.steps, n: event.n })
  } else if (event.type === 'call.sent' && event.body.attempt > 1) {
    if (issued.get(event.body.call)?.tool.startsWith('model:')) noteTry(view, event.body)
  } else if (event.type === 'call.resolved') {
    const call = issued.get(event.body.call)
    if (call !== undefined) hear(view, call, event, text)
  } else if (event.type === 'run.finished') {
    const { result, error } = event.body
    const value = result === undefined ? null : (JSON.parse(text(result)) as JsonObject)
    const said = value === null ? `${error?.code} ${error?.message}` : String(value.text ?? '')
    view.said.push({ at: event.at, step: view.steps, role: 'final', text: said, does: said })
  }
}

/** Why an answer was not used stands in the request after it alone. */
function noteMistake(view: SessionView, at: string, request: string): void {
  const { messages } = JSON.parse(request) as { messages: { text: string }[] }
  const { text } = messages.at(-1)!
  if (isMistakeFeedback(text)) view.said.push({ at, step: view.steps, role: 'system', text, does: text })
}

function noteTry(view: SessionView, { call, attempt }: { call: string; attempt: number }): void {
  view.repeated = [...view.repeated.filter((one) => one.call !== call), { call, tries: attempt }]
}

function hear(view: SessionView, asked: Issued, event: Event<'call.resolved'>, text: Reads): void {
  const { tool, args, step } = asked
  const { at, n, body } = event
  const say = (role: Utterance['role'], said: string, does: string, more: Partial<Utterance> = {}) =>
    void view.said.push({ at, step, role, text: said, does, ...more })
  if (!body.ok) {
    const problem = `${tool}: ${body.error?.code} ${body.error?.message}`
    // Without an answer a session ends, and its end says why.
    return say('system', problem, tool.startsWith('model:') ? `no answer: ${body.error?.code}` : problem)
  }
  const value = JSON.parse(text(body.value!)) as JsonObject
  if (tool.startsWith('model:')) {
    count(view, value, body.usage?.cost)
    const payload_ref = payloadOf(asked, event, text)
    return say('assistant', answerText(value), answerWords(view.plan.protocol, value), { payload_ref })
  }
  const given = JSON.parse(text(args)) as JsonObject
  if (tool === 'workspace:write' || tool === 'workspace:write_step') noteFile(view, value, step, n)
  if (tool === 'workspace:run') noteOutputs(view, value as Ran, step, n)
  say('system', systemText(event.body.call, tool, given, value), callWords(tool, given, value))
}

function payloadOf({ args, n }: Issued, { n: answered, body }: Event<'call.resolved'>, text: Reads) {
  const request = { n, member: 'args' as const, sha256: sha256(text(args)) }
  if (body.answer === undefined) return { request }
  return { request, answer: { n: answered, member: 'answer' as const, sha256: sha256(text(body.answer)) } }
}

/** What was there before stands beside it, under the name by which it is kept. */
function noteFile(view: SessionView, value: JsonObject, step: number, event: number): void {
  for (const one of value.kept === undefined ? [value] : [value.kept, value]) {
    const { path, sha256, bytes } = one as SessionFile
    view.files = [...view.files.filter((file) => file.path !== path), { path, sha256, bytes, step, event }]
  }
}

function noteOutputs(view: SessionView, { artifacts = [] }: Ran, step: number, event: number): void {
  for (const { path, artifactID, storagePath, sha256, bytes } of artifacts)
    view.outputs.push({ path, artifactID, storagePath, sha256, bytes, step, event })
}

function systemText(call: string, tool: string, { content }: JsonObject, value: JsonObject): string {
  if (tool === 'workspace:run') return reboundFeedback('ran', value as Ran, call)
  if (tool !== 'workspace:write' && tool !== 'workspace:write_step') return `${tool} ${JSON.stringify(value)}`
  const { path, sha256 } = value as SessionFile
  const isOutput = path.endsWith('/tool_output.txt')
  return isOutput ? `System: Tool executed. Artifacts saved. Output:\n${content}` : `wrote ${path} ${sha256}`
}

function answerText({ text, toolCalls }: JsonObject): string {
  const calls = (toolCalls as { name: string; args: Json }[]).map(({ name, args }) => `${name} ${JSON.stringify(args)}`)
  return [String(text), ...calls].filter((part) => part !== '').join('\n')
}

function count(view: SessionView, { usage }: JsonObject, cost: number | undefined): void {
  const { inputTokens, outputTokens } = usage as { inputTokens: number | null; outputTokens: number | null }
  view.tokens.input += inputTokens ?? 0
  view.tokens.output += outputTokens ?? 0
  if (cost !== undefined) view.cost = (view.cost ?? 0) + cost
}
