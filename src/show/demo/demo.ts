/**
 * The tour: a real server, a real sandbox and a real kill -9, in a folder of its own, with no key
 * and no configuration.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { AppError, type Config, type JsonObject, parseConfig } from '#model'
import { askWhileWaiting } from '#show/approvals'
import type { Command, Context } from '#show/cli'
import { counted, exit, faint, good, oneLine } from '#show/cli'
import { type Approval, type ExecuteAnswer, openArtifacts, openVerbs, originLines, type Verbs } from '#verbs'
import { learnAndReuse } from './learn-and-reuse.ts'
import { must, program, showing } from './step.ts'

const programPath = fileURLToPath(new URL('bin/metier', import.meta.resolve('#package')))

const readProgram = `
const [{ orders }, { rates }] = await Promise.all([mcp.shop.list_orders({}), mcp.post.list_rates({})]);
const late = orders.filter((order) => order.late);
return late.map(({ customer, item }) => customer + ' waits for a ' + item + ', postage ' + rates[item]);`

const refundProgram = `
const { orders } = await mcp.shop.list_orders({});
const dearest = orders.sort((a, b) => b.amount - a.amount)[0];
return await mcp.shop.refund({ order: dearest.id });`

const shipProgram = `
const shipped = [];
for (const order of [1, 2, 3]) shipped.push(await mcp.post.ship({ order }));
return shipped.map(({ order, times }) => 'order ' + order + ' shipped ' + times + ' time');`

/** What the model of the tour says: it looks with a tool, writes a file, and ends. */
const modelAnswers = [
  { $tool: { name: 'execute', input: { implementation: { type: 'code', code: readProgram } } } },
  {
    thought_process: 'Two customers wait: I write it down.',
    artifacts: [{ path: 'late.md', content: '# Late orders\n\n- Ada, a loom\n- Edsger, a thread\n' }],
    next_action: null,
    final_result: 'Two orders are late; late.md lists them.',
  },
]

export const demo: Command = {
  group: 'Set up',
  usage: 'demo',
  does: 'a tour without key or configuration: discover, execute, approve, crash, resume, learn, reuse, an agent, verify',
  words: [0, 0],
  run: async (context) => {
    const demo = build()
    const verbs = await openVerbs(demo.config, context.surroundings)
    const seen = await Promise.race([tour(context, demo, verbs), interruption(context.signal)]).finally(() =>
      verbs.close(),
    )
    // A demo that is left in the middle leaves nothing behind.
    if (seen === null) rmSync(demo.folder, { recursive: true, force: true, maxRetries: 5 })
    else if (context.json) context.print(JSON.stringify(seen))
    return seen === null ? exit.interrupted : exit.done
  },
}

type DemoShop = { folder: string; book: string; file: string; config: Config }

/** A shop that may not refund without asking, and a post that may ship without. */
function build(): DemoShop {
  const folder = mkdtempSync(join(tmpdir(), 'metier-demo-'))
  const book = join(folder, 'book.jsonl')
  const file = join(folder, 'metier.json')
  const server = (name: string) => ({
    command: process.execPath,
    args: [fileURLToPath(new URL('./demo-shop.ts', import.meta.url)), book, name],
  })
  const mcpServers = { shop: server('shop'), post: server('post') }
  const rules = [{ tool: 'post:ship', then: 'allow' }]
  const text = JSON.stringify({ mcpServers, policy: { permissions: 'standard', rules } }, null, 2)
  writeFileSync(file, text)
  return {
    folder,
    book,
    file,
    config: parseConfig({ file, text, home: join(folder, '.metier'), env: {}, directory: folder }),
  }
}

async function tour(context: Context, demo: DemoShop, verbs: Verbs): Promise<JsonObject> {
  const { caller } = context
  const say = context.json ? () => {} : context.print
  const show = showing(say)
  const run = (intent: string, code: string) =>
    verbs.execute({ intent, implementation: { type: 'code', code } }, caller)

  say(`A shop with three orders and its post, as real MCP servers. Everything happens in ${demo.folder}`)
  const found = await verbs.discover({ intent: 'give money back to a customer', limit: 1 }, caller)
  const best = (found.results as { id: string; input: string; effect: string }[])[0]
  show('1. discover', '“give money back to a customer”', `→ ${best?.id} ${best?.input}, effect: ${best?.effect}`)

  const read = must(await run('who waits for a late order?', readProgram), 'done')
  show('2. execute', ...program(readProgram), `→ ${oneLine(JSON.stringify(read.result))}`, boxOf(read))

  const asked = must(await run('refund the dearest order', refundProgram), 'approval_required')
  const [question] = asked.approvals ?? []
  show(
    '3. approve',
    ...program(refundProgram),
    `? ${question!.tool} ${JSON.stringify(question!.args)} waits: ${question!.why}`,
    ...originLines(question!).map((line) => faint(line)),
  )
  const approved = await decided(context, verbs, asked, question!)
  const denial = 'You said no: the program got APPROVAL_DENIED, and nothing was refunded.'
  say(approved.status === 'done' ? `  → ${JSON.stringify(approved.result)}` : `  ${denial}`)

  const killed = await crash(demo, verbs)
  show('4. crash', ...program(shipProgram), `kill -9 while order 2 is with the post: the run is ${killed.status}`)

  const doubt = must(await verbs.resume(String(killed.run), caller), 'uncertain')
  const [call] = doubt.calls as { call: string; tool: string; args: JsonObject }[]
  show(
    '5. resume',
    `call ${call!.call}, ${call!.tool} ${JSON.stringify(call!.args)}, was sent and not answered: it is not sent again,`,
  )
  say(`  someone who knows is asked. The shop's own book says: ${bookOf(demo).join(', ')}.`)
  const value = { order: 2, did: 'ship', times: 1 }
  const settled = must(await verbs.settle(String(killed.run), call!.call, { how: 'done', value }, caller, true), 'done')
  say(
    `  ${faint(`metier run settle … --call ${call!.call} --done '${JSON.stringify(value)}'`)}\n  → ${JSON.stringify(settled.result)}`,
  )
  say(`  The book now: ${bookOf(demo).join(', ')}. Nothing twice.`)

  const { learn, reuse } = await learnAndReuse(verbs, caller, show)

  const pursued = must(await pursue(demo, verbs, caller), 'done')
  const { text } = (await verbs.result({ run: pursued.run }, caller)).value as { text: string }
  const files = await booksOf(demo, verbs, String(pursued.run))
  const goal = '“Which orders are late?”, with a model whose answers are written down beforehand'
  show('8. agent', goal, `→ ${text}`, faint(`${good('✓')} ${files} are as recorded`))

  const ledger = await verbs.ledger()
  if (ledger.ok !== true) throw new AppError('LEDGER_BROKEN', `Cannot verify the record: ${ledger.reason}`, {})
  show('9. verify', `${good('✓')} ${ledger.events} events, each hashed with the one before`)
  show('Look around', `cd ${demo.folder}`, ...lookAround(String(killed.run), String(pursued.run)))
  return {
    folder: demo.folder,
    discover: best?.id ?? null,
    execute: read,
    approve: approved,
    crash: killed,
    resume: settled,
    learn,
    reuse,
    agent: { ...pursued, books: files },
    verify: ledger,
  } as JsonObject
}

function lookAround(run: string, session: string): string[] {
  const mission = `call metier:create_mission '{"name":"Ship everything"}'`
  const commands = [
    'runs',
    `run show ${run}`,
    `audit show ${run}`,
    `session show ${session}`,
    'capabilities',
    mission,
    'missions',
  ]
  return commands.map((command) => `${faint(programPath)} ${command}`)
}

/** A session of the agent, in the folder of the tour. */
async function pursue({ folder, config }: DemoShop, verbs: Verbs, caller: Context['caller']): Promise<ExecuteAnswer> {
  const answers = join(folder, 'model.json')
  writeFileSync(answers, JSON.stringify(modelAnswers))
  const goal = 'Which orders are late?'
  const { newPlan } = await import('#agent')
  const plan = await newPlan({ goal, workspace: folder, model: `scripted:${answers}` }, config)
  return verbs.pursue({ plan, goal }, caller)
}

/** The files that the session keeps in the folder; none of them may differ from the record. */
async function booksOf({ config }: DemoShop, verbs: Verbs, session: string): Promise<string> {
  const { readSession, sessionKit, verifySession } = await import('#agent')
  await sessionKit.writeBooks(verbs, session)
  const difference = await verifySession(await readSession(verbs, session), () => openArtifacts(config))
  if (difference === null) return 'ledger/, manifests/, sessions/ and late.md'
  const message = `Cannot go on with the tour: ${difference.file} ${difference.problem}`
  throw new AppError('LEDGER_BROKEN', message, {})
}

/** The person at the terminal is asked; where there is none, the tour says yes itself. */
async function decided(context: Context, verbs: Verbs, asked: ExecuteAnswer, { id }: Approval): Promise<ExecuteAnswer> {
  if (context.terminal !== null) {
    const answer = await askWhileWaiting({ ...context, verbs: async () => verbs }, Promise.resolve(asked))
    return answer.status === 'failed' ? answer : must(answer, 'done')
  }
  if (!context.json) context.print(`  ${faint(`metier approve ${id}`)}`)
  return must(await verbs.decide(id, { answer: 'approved' }, context.caller, true), 'done')
}

function interruption(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null)
    signal.addEventListener('abort', () => resolve(null), { once: true })
  })
}

/** Another process runs the program and is killed in the middle of its second effect. */
async function crash({ file, book, config }: DemoShop, verbs: Verbs): Promise<JsonObject> {
  const before = bookLines(book)
  const child = spawn(
    programPath,
    ['execute', 'ship everything', '--code', '-', '--quiet', '--config', file, '--home', config.home],
    {
      stdio: ['pipe', 'ignore', 'inherit'],
    },
  )
  child.stdin!.end(shipProgram)
  for (let i = 0; bookLines(book) < before + 2; i++) {
    if (i > 1500 || child.exitCode !== null)
      throw new AppError('TOOL_INTERNAL_ERROR', 'Cannot go on with the tour: nothing was shipped', {})
    await pause(20)
  }
  await kill(child)
  return verbs.runs({ limit: 1 })[0]!
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

function bookLines(book: string): number {
  return existsSync(book) ? readFileSync(book, 'utf8').split('\n').length - 1 : 0
}

function bookOf({ book }: DemoShop): string[] {
  const entries = readFileSync(book, 'utf8').split('\n').filter(Boolean)
  return entries
    .map((line) => JSON.parse(line) as { did: string; order: number })
    .map(({ did, order }) => `${did} ${order}`)
}

function boxOf({ isolation, callCount, run }: JsonObject): string {
  const { tier, layers } = isolation as { tier: string; layers: string[] }
  return faint(`${counted(callCount, 'call')} on the record, sandbox ${tier} (${layers.join(' in ')}), run ${run}`)
}
