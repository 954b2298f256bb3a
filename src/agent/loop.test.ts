/** The agent's loop alone: each result leads to exactly one call, or to the end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelAnswer } from '#agent/models'
import type { AgentPlan } from '#agent/protocol'
import { AppError, type IssuedCall, type JsonObject, limits, type ProgramEnd } from '#model'
import { agentProgram } from './loop.ts'

const common = { goal: 'Do it', system: 's', model: 'scripted:x', contextTokens: 200_000, workspace: '/w', tools: true }
const rebound: AgentPlan = { ...common, protocol: 'rebound', maxSteps: 10, tokens: 1000 }
const glassBox: AgentPlan = { ...rebound, protocol: 'tool_code' }

const target_script = 'workbench/scripts/a.py'
const next_action = { type: 'exec_and_chain', target_script, continuation_prompt: 'And?' }
const runs = JSON.stringify({ thought_process: 't', artifacts: [{ path: target_script, content: 'x' }], next_action })
const last = JSON.stringify({ thought_process: 'done', artifacts: [], next_action: null, final_result: 'It is 42.' })

const usage = { inputTokens: 10, outputTokens: 5, costUsd: null }
const answerOf = (answer: string | Partial<ModelAnswer>) => ({
  ...{ text: '', toolCalls: [], usage, stop: 'end' },
  ...(typeof answer === 'string' ? { text: answer } : answer),
})
const written = (path: string) => ({ path, sha256: 'a'.repeat(64), bytes: 1 })
const ran = (stdout: string, more: object = {}) => ({ returncode: 0, stdout, stderr: '', ...more })

type ProgramRun = { calls: (IssuedCall & { given: JsonObject })[]; end: ProgramEnd }
type Answer = string | Partial<ModelAnswer> | AppError

/** The n-th answer of the model; every other call is answered by `world`. */
async function told(plan: AgentPlan, answers: Answer[], world: (call: IssuedCall) => object = byTool) {
  const program = agentProgram(plan)
  const calls: ProgramRun['calls'] = []
  let turn = await program.start()
  let asked = 0
  while (turn.end === undefined) {
    const [call] = turn.calls as [IssuedCall]
    assert.equal(turn.calls.length, 1, 'one call at a time')
    calls.push({ ...call, given: JSON.parse(call.args) })
    const result = call.tool.startsWith('model:') ? answers[asked++] : world(call)
    assert.ok(result !== undefined, 'it asks once more than was expected')
    const ok = !(result instanceof AppError)
    const value = call.tool.startsWith('model:') && ok ? answerOf(result as string) : result
    turn = await program.deliver({ call: calls.length, ok, text: JSON.stringify(value), now: 0 })
  }
  return { calls, end: turn.end }
}

function byTool({ tool, args }: IssuedCall): object {
  return tool.startsWith('workspace:write') ? written(JSON.parse(args).path) : ran('out')
}

const requests = ({ calls }: ProgramRun) =>
  calls.filter(({ tool }) => tool.startsWith('model:')).map(({ given }) => given)
const lastWords = (request: JsonObject) => (request.messages as { role: string; text: string }[]).at(-1)!
const codeOf = ({ end }: ProgramRun) => (end.ok ? 'done' : end.error.code)

test('files are written before their script runs, and the evidence stands before the model at its next turn', async () => {
  const session = await told(rebound, [runs, last])
  assert.deepEqual(
    session.calls.map(({ tool }) => tool),
    ['model:scripted:x', 'workspace:write', 'workspace:run', 'model:scripted:x'],
  )
  const { sha256 } = written(target_script)
  assert.deepEqual(session.calls[2]!.given, { path: target_script, sha256, timeoutSeconds: 60 })
  assert.equal(lastWords(requests(session)[1]!).text, 'And?\n\n[RETURN CODE] 0\n[STDOUT]\nout\n[STDERR]\n')
  assert.deepEqual(session.end, {
    ok: true,
    value: JSON.stringify({ text: 'It is 42.', files: [written(target_script)] }),
  })
})

test('an answer that cannot be read is repaired by a call of its own, which shows where it breaks the schema', async () => {
  const broken = JSON.stringify({ thought_process: 't', next_action: { ...next_action, shell: true } })
  const session = await told(rebound, [broken, last])
  const [, repair] = requests(session)
  const [, before] = repair!.messages as { role: string; text: string }[]
  assert.deepEqual(before, { role: 'assistant', text: broken })
  assert.match(lastWords(repair!).text, /not used: \/next_action\/shell is not known: only type, target_script/)
  assert.equal(session.end.ok, true)
  assert.ok(
    session.calls.every(({ tool }) => tool.startsWith('model:')),
    'nothing of a broken answer is done',
  )
})

test('what is left out of large output is named by its call and path, so that result can page through it', async () => {
  const large = 'x'.repeat(limits.feedbackBytesMax + 1)
  const world = (call: IssuedCall) => (call.tool === 'workspace:run' ? ran(large) : byTool(call))
  const session = await told(rebound, [runs, last], world)
  assert.match(lastWords(requests(session)[1]!).text, /characters left out, all of it is \/stdout of call 3 …/)
  const discover = { toolCalls: [{ id: 'c', name: 'discover', args: { intent: 'x' } }] }
  const tools = await told(rebound, [discover, last], () => ({ found: large }))
  const reply = lastWords(requests(tools)[1]!)
  assert.equal(reply.role, 'tool')
  assert.match(reply.text, /characters left out, all of it is the value of call 2 …/)
  const box = await told(glassBox, ['<tool_code>\nx\n</tool_code>', 'end'], world)
  const file = 'artifacts/step_19700101_000000_tool_request/tool_output.txt'
  assert.ok(lastWords(requests(box)[1]!).text.includes(`left out, all of it is in ${file} …`))
})

test('a request may use what is left of the tokens, and none is made without any', async () => {
  const session = await told({ ...rebound, tokens: 25 }, [runs, runs])
  assert.deepEqual(
    requests(session).map(({ maxTokens }) => maxTokens),
    [25, 10],
  )
  assert.equal(codeOf(session), 'BUDGET_EXCEEDED')
  const { maxTokens } = requests(await told({ ...rebound, tokens: 1e9 }, [last]))[0]!
  assert.equal(maxTokens, limits.modelAnswerTokensMax)
})

for (const stop of ['refusal', 'context_overflow'] as const)
  test(`an answer that ends with ${stop} ends the session by that name`, async () => {
    const { end } = await told(rebound, [{ text: last, stop }])
    assert.ok(!end.ok)
    assert.deepEqual([end.error.code, end.error.context.stop], ['TOOL_ERROR', stop])
  })

test('an answer that was cut off is never acted on: it is fed back', async () => {
  const session = await told(rebound, [{ text: runs, stop: 'max_tokens' }, last])
  assert.match(lastWords(requests(session)[1]!).text, /it was cut off: it was too long/)
  assert.deepEqual(
    session.calls.map(({ tool }) => tool).filter((tool) => tool.startsWith('workspace:')),
    [],
  )
  const toolCalls = [{ id: 'c', name: 'discover', args: { intent: 'x' } }]
  const withTools = await told(rebound, [{ toolCalls, stop: 'max_tokens' }, last])
  assert.equal(withTools.calls.length, 2, 'a call of it may be half of one')
  const [, before] = requests(withTools)[1]!.messages as object[]
  assert.deepEqual(before, { role: 'assistant', text: '' }, 'a provider refuses a call without its result')
})

test('the second forbidden path ends the session, whatever was between; a link in place of a script is one', async () => {
  const outside = JSON.stringify({ thought_process: 't', next_action: { ...next_action, target_script: '../a.py' } })
  const linked = (call: IssuedCall) =>
    call.tool === 'workspace:run' ? ran('', { returncode: 'refused', forbidden: 'a link' }) : byTool(call)
  const session = await told(rebound, [outside, '?', runs], linked)
  assert.equal(codeOf(session), 'PERMISSION_DENIED')
  assert.match(lastWords(requests(session)[1]!).text, /\.\.\/a\.py is a forbidden path/)
})

test('an absent script is a failure like an exception; three equal ones in a row end the session, others do not', async () => {
  const fails = (stderr: string) => (call: IssuedCall) =>
    call.tool === 'workspace:run' ? ran('', { returncode: 1, stderr }) : byTool(call)
  const equal = await told(rebound, [runs, runs, runs], fails('no'))
  assert.ok(!equal.end.ok)
  assert.match(equal.end.error.message, /the same failure came 3 times in a row: 1 no/)
  const differing = await told(rebound, [runs, runs, '?', runs, runs, last], fails('no'))
  assert.equal(codeOf(differing), 'done')
  const unwritten = JSON.stringify({ thought_process: 't', next_action })
  const absent = await told(rebound, [unwritten, last], fails('there is no such file'))
  assert.deepEqual(absent.calls[1]!.given, { path: target_script, sha256: null, timeoutSeconds: 60 })
})

test('tools that fail alike three times in a row end the session; one that succeeds in between does not', async () => {
  const uses = { toolCalls: [{ id: 'c', name: 'discover', args: { intent: 'x' } }] }
  const unreachable = () => new AppError('UPSTREAM_UNREACHABLE', 'gone', {})
  const failing = await told(rebound, [uses, uses, uses], unreachable)
  assert.ok(!failing.end.ok)
  assert.match(failing.end.error.message, /the same failure came 3 times in a row: discover .*gone/)
  let asked = 0
  const flaky = await told(rebound, [uses, uses, uses, uses, last], () => (++asked === 3 ? {} : unreachable()))
  assert.equal(codeOf(flaky), 'done')
  const alike = (call: IssuedCall) =>
    call.tool === 'workspace:discover' ? {} : call.tool === 'workspace:run' ? ran('', { returncode: 1 }) : byTool(call)
  assert.equal(codeOf(await told(rebound, [runs, runs, uses, runs, last], alike)), 'done', 'not in a row')
})

test('the steps are bounded, and what was printed last is kept with the error', async () => {
  const { end } = await told({ ...rebound, maxSteps: 2 }, [runs, runs])
  assert.ok(!end.ok)
  assert.deepEqual([end.error.code, end.error.context.steps], ['BUDGET_EXCEEDED', 2])
  assert.match(String(end.error.context.last), /\[STDOUT\]\nout/)
})

test('what ends a run ends the session: no model can mend it', async () => {
  for (const error of [new AppError('STORE_FULL', 'full', {}), new AppError('CANCELLED', 'stopped', {})]) {
    const session = await told(rebound, [runs], () => error)
    assert.equal(codeOf(session), error.code)
  }
})

test('a long history shows of older steps the thought, the ends of what was printed and its place', async () => {
  const world = (call: IssuedCall) => (call.tool === 'workspace:run' ? ran('y'.repeat(20_000)) : byTool(call))
  const broken = `no JSON ${'z'.repeat(20_000)}`
  const discover = { text: 'I search.', toolCalls: [{ id: 'c', name: 'discover', args: { intent: 'x' } }] }
  const answers = [runs, broken, discover, runs, runs, runs, last]
  const session = await told({ ...rebound, tokens: 1e9, contextTokens: 50_000 }, answers, (call) =>
    call.tool === 'workspace:discover' ? { found: 'w'.repeat(20_000) } : world(call),
  )
  const messages = requests(session).at(-1)!.messages as { role: string; text: string }[]
  const [, thought, output, unused, answer, search, found] = messages.map(({ text }) => text)
  assert.deepEqual([thought, unused, search], ['t', '(This answer was not used.)', 'I search.'])
  assert.match(
    output!,
    /^\(An earlier step, shortened\.\)\n\[STDOUT\] 20000 characters, all of it is \/stdout of call 3\ny{500}\n… 19000 /,
  )
  assert.match(answer!, /\[ANSWER\] 20008 characters, all of it is \/text of call 4\nno JSON z{492}\n/)
  assert.match(found!, /\[discover\] \d+ characters, all of it is the value of call 6\n/)
  assert.ok(messages.slice(0, -6).every(({ text }) => text.length < 2000))
})

test('tools are offered only where the plan has them, and a call of none is told so', async () => {
  assert.equal('tools' in requests(await told({ ...rebound, tools: false }, [last]))[0]!, false)
  const shell = { toolCalls: [{ id: 'c', name: 'shell', args: {} }] }
  const session = await told(glassBox, [shell, 'end'])
  assert.match(lastWords(requests(session)[1]!).text, /there is no tool \\"shell\\": only discover, execute, result/)
})
