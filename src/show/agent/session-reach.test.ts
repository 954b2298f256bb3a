/** What a session can reach, and what no other program can: capabilities, models and workspaces. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  agentProject,
  caller,
  lastAnswer,
  metier,
  openSpace,
  runAgent,
  schemaOf,
  scriptAnswer,
  teach,
  whyNot,
} from '#test'

const skip = whyNot('os')
const uses = (implementation: object, args: object = {}) => ({
  $tool: { name: 'execute', input: { implementation, args } },
})
const code = (text: string) => uses({ type: 'code', code: text })
type Call = { call: string; tool: string; error?: { code: string } }

test('a model executes a capability by its id, pinned and nested like any call of one', { skip }, async (t) => {
  const space = agentProject(t, [
    uses({ type: 'capability', id: 'cap:new_mission' }, { name: 'M' }),
    uses({ type: 'capability', id: 'cap:none' }),
    uses({ type: 'capability', id: 'new mission' }),
    lastAnswer('made'),
  ])
  const verbs = await openSpace(space)
  const parametersSchema = schemaOf({ name: { type: 'string' } })
  const source = 'return (await tool("metier:create_mission", { name: args.name })).missionID.length'
  await teach(verbs.store, 'new_mission', source, { parametersSchema })
  await verbs.close()
  const { json } = await runAgent(space, 'Use what was learned')
  assert.partialDeepStrictEqual(json, { status: 'done', steps: 4 })
  const { calls } = (await metier(space, ['run', 'show', json.session, '--json'])).json as { calls: Call[] }
  const [, pinned, nested] = calls
  assert.deepEqual([pinned!.tool, nested!.call, nested!.tool], ['cap:new_mission@1', '2.1', 'metier:create_mission'])
  assert.equal(calls.find(({ tool }) => tool === 'cap:none')?.error?.code, 'TOOL_NOT_FOUND')
  const { said } = (await metier(space, ['session', 'show', json.session, '--json'])).json
  assert.ok(
    said.some(({ text }: { text: string }) => text === 'cap:new_mission@1 36'),
    JSON.stringify(said),
  )
  assert.equal((await metier(space, ['run', 'replay', json.session])).code, 0)
})

test('execute takes no plan of an agent', async (t) => {
  const verbs = await openSpace(agentProject(t, []))
  const implementation = { type: 'agent', agent: { goal: 'x' } }
  await assert.rejects(verbs.execute({ implementation }, caller), { code: 'INVALID_INPUT_PARAM' })
})

test('neither models nor workspaces are tools of a plain run, or of a program inside a session', {
  skip,
}, async (t) => {
  const reach = `const said = []
    for (const id of ["model:scripted:x", "workspace:write", "workspace:run", "workspace:discover"])
      try { said.push(await tool(id, { path: "x", content: "y" })) } catch (error) { said.push(error.code) }
    return said`
  const space = agentProject(t, [code(reach), lastAnswer('end')])
  const plain = await metier(space, ['execute', '--code', '-', '--json'], { input: reach })
  assert.deepEqual(plain.json.result, Array(4).fill('TOOL_NOT_FOUND'), plain.stdout)
  const { session } = (await runAgent(space, 'Reach')).json
  const { calls } = (await metier(space, ['run', 'show', session, '--json'])).json as { calls: Call[] }
  const nested = calls.filter(({ call }) => call.startsWith('2.'))
  assert.deepEqual(
    nested.map(({ error }) => error?.code),
    Array(4).fill('TOOL_NOT_FOUND'),
  )
})

test('--permissions narrows a session: what the configuration allows is then refused', { skip }, async (t) => {
  const answers = [code('return await tool("metier:create_mission", { name: "M" })'), lastAnswer('made')]
  const config = { policy: { permissions: 'privileged', rules: [] } }
  const codeOfWrite = async (...more: string[]) => {
    const space = agentProject(t, answers, config)
    const { json } = await runAgent(space, 'Make', ...more)
    const { calls } = (await metier(space, ['run', 'show', json.session, '--json'])).json as { calls: Call[] }
    return calls.find(({ tool }) => tool === 'metier:create_mission')!.error?.code
  }
  assert.equal(await codeOfWrite(), undefined)
  assert.equal(await codeOfWrite('--permissions', 'minimal'), 'PERMISSION_DENIED')
  const wrong = await runAgent(agentProject(t, answers), 'Make', '--permissions', 'all')
  assert.equal(wrong.json.error.code, 'INVALID_INPUT_PARAM')
})

test('a fork of a session keeps its first steps and asks its model again from there', { skip }, async (t) => {
  const answers = [code('return 1'), code('return 2'), lastAnswer('end')]
  const space = agentProject(t, answers)
  const { json } = await runAgent(space, 'Fork me')
  assert.equal(json.status, 'done')
  const forked = await metier(space, ['run', 'fork', json.session, '--at', '3', '--json'])
  assert.equal(forked.json?.status, 'done', forked.stderr + forked.stdout)
  const shown = await metier(space, ['session', 'show', forked.json.run, '--json'])
  assert.deepEqual([shown.json.steps, shown.json.said.at(-1).text], [3, 'end'])
  const verified = await metier(space, ['session', 'verify', forked.json.run])
  assert.equal(verified.code, 0, verified.stdout)
  assert.equal((await metier(space, ['run', 'replay', forked.json.run])).code, 0)
})

test('a process that cannot make the program of a session leaves it alone', { skip, timeout: 300_000 }, async (t) => {
  const rules = [{ tool: 'workspace:write', then: 'ask' }]
  const space = agentProject(t, [scriptAnswer('a.py', 'print(1)'), lastAnswer('end')], { policy: { rules } })
  const { session } = (await runAgent(space, 'Wait')).json
  const verbs = await openSpace(space)
  const [{ id }] = verbs.approvals() as unknown as [{ id: string }]
  await verbs.decide(id, { answer: 'approved' }, caller, false)
  const before = verbs.linesOf(session)
  await assert.rejects(verbs.resume(session, caller), { code: 'PLAN_INVALID', message: /use "metier agent resume"/ })
  assert.deepEqual(verbs.linesOf(session), before)
  await verbs.close()
  const resumed = await metier(space, ['agent', 'resume', session, '--json'])
  assert.equal(resumed.json?.status, 'done', resumed.stderr)
})

test('a model pages through what was left out of the output of its script, in its own session only by call', {
  skip,
}, async (t) => {
  const result = (input: object) => ({ $tool: { name: 'result', input } })
  const numbers = 'print(*range(30000))'
  const space = agentProject(t, [
    scriptAnswer('numbers.py', numbers),
    result({ call: '3', path: '/stdout', offset: 80_000 }),
    result({ path: '/stdout' }),
    result({ call: '3', path: '/stdout', limit: 1e6 }),
    lastAnswer('seen'),
  ])
  const { json } = await runAgent(space, 'Count')
  assert.equal(json?.status, 'done', JSON.stringify(json))
  const verbs = await openSpace(space)
  const asked = verbs.eventsOf(json.session, { type: 'call.issued' })
  const requests = asked.filter(({ body }) => (body as { tool: string }).tool.startsWith('model:'))
  const last = JSON.parse(verbs.memberText((requests.at(-1)!.body as unknown as { args: never }).args))
  const texts = last.messages.map(({ text }: { text: string }) => text)
  assert.match(texts[2], /characters left out, all of it is \/stdout of call 3 …/)
  const page = JSON.parse(texts[4]).value
  const all = `${Array.from({ length: 30_000 }, (_, n) => n).join(' ')}\n`
  assert.deepEqual([page.text, page.next], [all.slice(80_000, 88_192), 88_192])
  assert.match(texts[6], /say which call of this session/)
  assert.match(texts[8], /result takes call, path, offset and run here/)
  assert.equal((await metier(space, ['run', 'replay', json.session])).code, 0)
  assert.equal((await metier(space, ['session', 'verify', json.session])).code, 0)
})
