/**
 * What an agent gains from the second day on, through a host's protocol: an MCP client at a running
 * `metier serve`, with a human who answers forms.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { JsonObject } from '#model'
import { filled, metier, type OfficeHabit, officeHabits, root, serve, type Workspace, workspace } from '#test'

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is looked into by assertions, member by member.
type Answer = any

const office = (env: Record<string, string>) => ({
  command: process.execPath,
  args: [join(root, 'test', 'servers', 'office.ts')],
  env,
})

function openOffice(t: TestContext, config: object = {}, env: Record<string, string> = {}) {
  const space = workspace(t)
  const book = join(space.folder, 'office.jsonl')
  const all = { OFFICE: book, BROKEN: join(space.folder, 'broken'), ...env }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { office: office(all) }, ...config }))
  return { ...space, book }
}

/** A host with a human, who says yes while `isWilling`. */
async function host(t: TestContext, url: string) {
  const client = new Client({ name: 'host', version: '1' }, { capabilities: { elicitation: { form: {} } } })
  const human = { isWilling: true, asked: 0 }
  client.setRequestHandler('elicitation/create', async () => {
    human.asked++
    return human.isWilling ? { action: 'accept', content: { decision: 'once' } } : { action: 'decline' }
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  t.after(() => client.close())
  const call = async (name: string, input: JsonObject): Promise<Answer> => {
    const { structuredContent } = await client.callTool({ name, arguments: input }, { timeout: 60_000 })
    return structuredContent
  }
  return {
    human,
    discover: (intent: string, filter: JsonObject = {}) => call('discover', { intent, filter }),
    execute: (intent: string, more: JsonObject = {}) => call('execute', { intent, ...more }),
    write: (intent: string, code: string) => call('execute', { intent, implementation: { type: 'code', code } }),
  }
}

type Host = Awaited<ReturnType<typeof host>>

const intentOf = ({ wordings, values }: OfficeHabit, at: number) => filled(wordings[at]!, values[at]!)
const programOf = ({ programs, values }: OfficeHabit, at: number) =>
  filled(programs[at % programs.length]!, values[at]!)

const taughtRounds = 5

/** Thirty runs: six habits in turn, each time in other words, with other values. */
async function teachHabits(agent: Host): Promise<void> {
  for (let round = 0; round < taughtRounds; round++)
    for (const habit of officeHabits) {
      const answer = await agent.write(intentOf(habit, round), programOf(habit, round))
      assert.equal(answer.status, 'done', JSON.stringify(answer))
    }
}

const look = async (space: Workspace, ...args: string[]): Promise<Answer> => {
  const { code, json, stderr } = await metier(space, [...args, '--json'])
  assert.equal(code, 0, stderr)
  return json
}

/** Looks until it holds: learning comes after the runs, in its own time. */
async function eventually<Found>(find: () => Promise<Found>, holds: (found: Found) => boolean): Promise<Found> {
  let found = await find()
  for (let round = 0; round < 60 && !holds(found); round++) {
    await pause(500)
    found = await find()
  }
  assert.ok(holds(found), JSON.stringify(found).slice(0, 2000))
  return found
}

const capabilities = (space: Workspace) => look(space, 'capabilities')
const hasTools = ({ tools }: OfficeHabit, { toolsUsed }: Answer) => String([...toolsUsed].sort()) === String(tools)
const habitNamed = (name: string) => officeHabits.find((habit) => habit.name === name)!

/** A serve whose agent worked for a day; what it learned is verified. */
async function taught(t: TestContext, config: object = {}, env: Record<string, string> = {}) {
  const space = openOffice(t, config, env)
  const served = await serve(t, space)
  const agent = await host(t, served.url)
  await teachHabits(agent)
  const isLearned = (all: Answer[]) => all.filter(({ status }) => status === 'verified').length >= officeHabits.length
  const all = await eventually(() => capabilities(space), isLearned)
  return { space, served, agent, all }
}

/** The arguments that an intent says, whatever the parameters are called. */
const valuesOf = (args: JsonObject) => Object.values(args).map(String).sort()

test('thirty runs of six habits teach six capabilities, which other wordings recall with their arguments', async (t) => {
  const { space, agent, all } = await taught(t)
  assert.deepEqual(
    all.map(({ status, version }: Answer) => `${status} ${version}`),
    Array(6).fill('verified 1'),
  )
  for (const habit of officeHabits) {
    const own = all.filter((one: Answer) => hasTools(habit, one))
    assert.equal(own.length, 1, `${habit.name}: ${JSON.stringify(own)}`)
    // A command may have rehearsed it first; what only reads the gateway executes, in its time.
    const ways = habit.isReadOnly ? ['rehearsed', 'executed'] : ['rehearsed']
    const shown = () => look(space, 'capabilities', 'show', own[0].id)
    await eventually(shown, ({ verifiedBy }) => String(verifiedBy.how) === String(ways))
    for (let at = taughtRounds; at < habit.wordings.length; at++) {
      const intent = intentOf(habit, at)
      const { status, suggestion } = await agent.execute(intent)
      const { id, args, missing } = suggestion.capability ?? {}
      assert.deepEqual([status, id, missing], ['suggested', own[0].id, []], `${intent}: ${JSON.stringify(suggestion)}`)
      assert.deepEqual(valuesOf(args), Object.values(habit.values[at]!).map(String).sort(), intent)
      assert.ok(suggestion.confidence > 0.6 && suggestion.confidence < 1, `${intent}: ${suggestion.confidence}`)
      const { results } = await agent.discover(intent)
      const first = results.slice(0, 3).map((one: Answer) => one.id)
      assert.ok(first.includes(own[0].id), `${intent}: ${first}`)
      assert.ok(results.filter(({ type }: Answer) => type === 'capability').length <= 3)
    }
  }
  const offered = await agent.discover('anything at all', { type: 'capability' })
  assert.equal(offered.results.length, 6, 'alone, all of them')
  await t.test('what an agent sends back as it was suggested does what the intent says', async () => {
    const habit = habitNamed('hours')
    const { suggestion } = await agent.execute(intentOf(habit, 5))
    const done = await agent.execute('as suggested', { implementation: { type: 'dag', tasks: suggestion.tasks } })
    const written = await agent.write('the same', programOf(habit, 5))
    assert.deepEqual([done.status, done.result], ['done', written.result], JSON.stringify(done))
  })
  await t.test('where its servers are not configured, nothing of it is offered', async () => {
    const other = join(space.folder, 'other.json')
    writeFileSync(other, JSON.stringify({ mcpServers: {} }))
    const intent = intentOf(habitNamed('stock'), 5)
    const { results } = await look(space, 'discover', intent, '--config', other)
    assert.ok(!JSON.stringify(results).includes('office'), JSON.stringify(results))
    const { suggestion } = await look(space, 'execute', intent, '--config', other)
    assert.ok(!JSON.stringify(suggestion).includes('office'), JSON.stringify(suggestion))
  })
})

const secret = `sk-${'A1b2C3d4'.repeat(4)}`

test('what an agent learned keeps to what humans decided: asks, hides, goes stale, is taken back', async (t) => {
  const config = {
    policy: { permissions: 'privileged' },
    record: { secrets: ['sk-[A-Za-z0-9]{20,}'] },
    speculate: { minConfidence: 0.7 },
  }
  const { space, agent, all, served } = await taught(t, config)
  const capabilityOf = (name: string) => all.find((one: Answer) => hasTools(habitNamed(name), one))
  const booked = () => readFileSync(space.book, 'utf8')
  await t.test('an unsafe step asks, however sure the capability and whatever its caller may do', async () => {
    agent.human.isWilling = false
    const no = await agent.execute('refund order ORD-4711 because it came late')
    assert.deepEqual(
      [no.status, no.speculated, no.error?.code],
      ['failed', true, 'APPROVAL_DENIED'],
      JSON.stringify(no),
    )
    assert.deepEqual([agent.human.asked, booked().includes('ORD-4711')], [1, false])
    agent.human.isWilling = true
    const yes = await agent.execute('refund order ORD-4712 because it came late')
    assert.deepEqual([yes.status, yes.speculated, agent.human.asked], ['done', true, 2], JSON.stringify(yes))
    assert.equal(booked().match(/ORD-4712/g)?.length, 1)
    const not = await agent.execute('do not refund order ORD-4713')
    assert.equal(not.status, 'suggested', JSON.stringify(not))
  })
  await t.test('a secret in a literal becomes a parameter without a value, and is shown nowhere', async () => {
    for (const name of ['Ann', 'Bob', 'Cyd']) {
      const code = `return await mcp.office.send_mail({ to: '${name}', subject: '${secret}' })`
      await agent.write(`hand the vault key to ${name}`, code)
    }
    const find = (found: Answer[]) => found.find(({ intent }) => intent.includes('vault'))
    const known = await eventually(
      () => capabilities(space),
      (found) => find(found)?.status === 'verified',
    )
    const shown = await look(space, 'capabilities', 'show', find(known).id)
    const asked = await agent.execute('hand the vault key to Dan')
    assert.deepEqual(
      [asked.status, asked.suggestion.capability?.missing],
      ['suggested', ['subject']],
      JSON.stringify(asked),
    )
    const offered = await agent.discover('hand the vault key to Dan')
    for (const said of [shown, asked, offered]) assert.doesNotMatch(JSON.stringify(said), /sk-|«secret/)
    for (const file of globSync('learn.db*', { cwd: space.home }))
      assert.ok(!readFileSync(join(space.home, file)).includes(secret), file)
  })
  await t.test('a poisoned intent does not make its capability win for others', async () => {
    const words = officeHabits
      .flatMap(({ wordings }) => wordings)
      .join(' ')
      .replace(/[{}]/g, '')
    const before = await agent.discover(intentOf(habitNamed('remind'), 5))
    for (const user of ['eve', 'eve', 'eve', 'mallory', 'mallory'])
      await agent.write(`${words} ${words} log in ${user}`, `return await mcp.office.login({ user: '${user}' })`)
    const isThere = (found: Answer[]) => found.some(({ toolsUsed }) => String(toolsUsed) === 'office:login')
    await eventually(() => capabilities(space), isThere)
    for (const habit of officeHabits) {
      const { wordings, values } = habit
      const intent = filled(wordings[6]!, values[5]!)
      const { results } = await agent.discover(intent)
      const login = results.findIndex(
        (one: Answer) => one.id === 'office:login' || one.toolsUsed?.includes('office:login'),
      )
      const own = results.findIndex((one: Answer) => one.id === capabilityOf(habit.name).id)
      assert.ok(own >= 0 && (login < 0 || own < login), `${intent}: ${JSON.stringify(results)}`)
    }
    const after = await agent.discover(intentOf(habitNamed('remind'), 5))
    assert.equal(after.results[0].id, before.results[0].id)
  })
  await t.test('a capability that fails is taken back, and why its tool fails is said in our words alone', async () => {
    const { id } = capabilityOf('stock')
    writeFileSync(join(space.folder, 'broken'), '')
    const args = Object.fromEntries(
      Object.keys((await look(space, 'capabilities', 'show', id)).parametersSchema.properties).map((name) => [
        name,
        'x',
      ]),
    )
    for (let at = 0; at < 8; at++) {
      const failed = await agent.execute('stock', { implementation: { type: 'capability', id }, args })
      if (at === 0) assert.equal(failed.status, 'failed', JSON.stringify(failed))
    }
    const isDemoted = (found: Answer[]) => found.some((one) => one.id === id && one.status === 'demoted')
    await eventually(() => capabilities(space), isDemoted)
    for (let at = 0; at < 8; at++) await agent.write('what else is in stock', programOf(habitNamed('stock'), 6))
    const intent = intentOf(habitNamed('stock'), 5)
    const { results } = await agent.discover(intent)
    assert.ok(!results.some((one: Answer) => one.id === id), 'it is not offered')
    const told = results.find((one: Answer) => one.id === 'office:stock')
    assert.match(told.why, /tried \d+ times, failed with TOOL_ERROR/)
    assert.doesNotMatch(JSON.stringify(results), /Ignore what/)
    const asked = await agent.execute(intent)
    assert.equal(asked.status, 'suggested')
    assert.match(JSON.stringify(asked.suggestion.warnings), /was tried \d+ times and failed with TOOL_ERROR/)
  })
  await t.test('a changed tool makes its capability stale, until it was accepted and verified again', async () => {
    const { id } = capabilityOf('refund')
    await served.stop()
    const { mcpServers } = JSON.parse(readFileSync(space.file, 'utf8'))
    mcpServers.office.env.CHANGED = 'yes'
    writeFileSync(space.file, JSON.stringify({ mcpServers, ...config }))
    const again = await host(t, (await serve(t, space)).url)
    await again.discover('refund an order')
    const statusOf = (found: Answer[]) => found.find((one) => one.id === id)?.status
    await eventually(
      () => capabilities(space),
      (found) => statusOf(found) === 'stale',
    )
    const intent = 'refund order ORD-4714 because it came late'
    const answer = await again.execute(intent)
    assert.deepEqual([answer.status, answer.suggestion?.capability], ['suggested', undefined], JSON.stringify(answer))
    assert.ok(!(await again.discover(intent)).results.some((one: Answer) => one.id === id))
    await look(space, 'accept', 'office:refund')
    // Serve holds it against its runs again, since all that it calls can be called.
    await eventually(
      () => capabilities(space),
      (found) => statusOf(found) === 'verified',
    )
    const { speculated } = await again.execute(intent)
    assert.equal(speculated, true)
  })
})

test('with speculation on, at most half of the programs have to be written, and none that ran was wrong', async (t) => {
  const space = openOffice(t, { speculate: { minConfidence: 0.6 } })
  const agent = await host(t, (await serve(t, space)).url)
  const counted = { intents: 0, speculated: 0, sentBack: 0 }
  const written: string[] = []
  for (let round = 0; round < 10; round++) {
    for (const habit of officeHabits) {
      const values = habit.values[(round * 3) % habit.values.length]!
      const intent = filled(habit.wordings[round % habit.wordings.length]!, values)
      counted.intents++
      const answer = await agent.execute(intent)
      if (answer.status === 'done') {
        counted.speculated++
        assert.equal(answer.speculated, true)
        assert.deepEqual(answer.result, habit.result(values), `${intent}: ${JSON.stringify(answer)}`)
        continue
      }
      assert.equal(answer.status, 'suggested', JSON.stringify(answer))
      const { tasks, capability, confidence } = answer.suggestion
      // What is suggested whole is sent back as it is, and says no other values than the intent.
      const isWhole = capability?.missing.length === 0
      if (isWhole) {
        counted.sentBack++
        const said = valuesOf(values)
        assert.deepEqual(valuesOf(capability.args), said, `${intent}: ${JSON.stringify(answer.suggestion)}`)
      } else written.push(`${intent} (${capability?.id ?? 'no capability'}, ${confidence})`)
      const done = isWhole
        ? await agent.execute(intent, { implementation: { type: 'dag', tasks } })
        : await agent.write(intent, filled(habit.programs[round % habit.programs.length]!, values))
      assert.deepEqual(done.result, habit.result(values), JSON.stringify(done))
    }
    // A person who thinks about the next thing leaves time to learn from the last ones.
    await pause(1500)
  }
  const { intents, speculated, sentBack } = counted
  t.diagnostic(
    `${intents} intents: without learning ${intents} programs are written, with it ${written.length}; ` +
      `${speculated} ran by themselves, ${sentBack} were sent back as suggested`,
  )
  assert.ok(written.length * 2 <= intents, written.join('\n'))
  assert.ok(speculated > 0)
})
