/**
 * A small MCP server over stdio for tests: it writes every effect into a file of its own, so that a
 * test can ask a witness that has no part in Métier what really happened. EFFECTS names that file;
 * LAG is the milliseconds between an effect and its answer; STUBBORN makes it mind neither SIGTERM
 * nor the end of its input, for half a minute; DETACHED makes it leave a process in a group of its
 * own; ESTRANGED names a file for the number of a process that it starts two forks away, in another
 * session; SAYS is another description of add; STARTS names a file that gets a character at each
 * start; OUTPUT is the output schema of read.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

type Args = Record<string, unknown>
type Entry = { tool: string; args: Args; phase: 'begun' | 'done'; pid: number }
type Tool = {
  description: string
  takes: Record<string, object>
  optional?: string[]
  hints?: object
  meta?: object
  run: Run
}
type Run = (args: Args, note: (phase: Entry['phase']) => void) => unknown

const { EFFECTS: file, LAG = '0', STUBBORN, DETACHED, ESTRANGED, SAYS, STARTS, OUTPUT } = process.env
if (STARTS !== undefined) appendFileSync(STARTS, '.')
const witness = file === undefined ? null : openSync(file, 'a')
const text = { type: 'string' }
const number = { type: 'number' }
const readOnly = { readOnlyHint: true }
const failures = new Map<unknown, number>()

const tools: Record<string, Tool> = {
  read: {
    description: 'Read the value that is stored under a key.',
    takes: { key: text },
    hints: readOnly,
    run: ({ key }) => ({ key, value: done('put').findLast(({ args }) => args.key === key)?.args.value ?? null }),
  },
  put: {
    description: 'Store a value under a key; what was there before is replaced.',
    takes: { key: text, value: {} },
    hints: { idempotentHint: true, destructiveHint: false },
    run: ({ key }, note) => {
      note('done')
      return { key }
    },
  },
  add: {
    description: SAYS ?? 'Add a number to a counter and say the new total. Doing it twice adds twice.',
    takes: { key: text, by: number, ms: number },
    optional: ['ms'],
    run: async ({ key, ms }, note) => {
      note('begun')
      await pause(Number(ms ?? 0))
      note('done')
      const added = done('add').filter(({ args }) => args.key === key)
      await pause(Number(LAG))
      return { key, total: added.reduce((sum, { args }) => sum + Number(args.by), 0) }
    },
  },
  pay: {
    description: 'Pay an amount to an account, once for each idempotency key.',
    takes: { account: text, amount: number, idempotency_key: text },
    optional: ['idempotency_key'],
    run: async ({ account, amount, idempotency_key: key }, note) => {
      const repeated = key !== undefined && key !== '' && done('pay').some(({ args }) => args.idempotency_key === key)
      if (!repeated) note('done')
      await pause(Number(LAG))
      return { account, amount, repeated }
    },
  },
  wait: {
    description: 'Wait for a number of milliseconds.',
    takes: { ms: number },
    hints: readOnly,
    run: async ({ ms }, note) => {
      note('begun')
      await pause(Number(ms))
      note('done')
      return { waited: ms }
    },
  },
  flaky: {
    description: 'Fail so many times for a key, then succeed.',
    takes: { key: text, failures: number },
    hints: readOnly,
    run: ({ key, failures: wanted }, note) => {
      note('done')
      const attempt = (failures.get(key) ?? 0) + 1
      failures.set(key, attempt)
      if (attempt <= Number(wanted)) throw new Error(`failed ${attempt} of ${wanted} times`)
      return { attempts: attempt }
    },
  },
  big: {
    description: 'Give back a text of so many bytes.',
    takes: { bytes: number },
    hints: readOnly,
    run: ({ bytes }) => ({ text: 'x'.repeat(Number(bytes)) }),
  },
  rows: {
    description: 'Give back a list of rows of about so many bytes.',
    takes: { bytes: number },
    hints: readOnly,
    run: ({ bytes }) => ({
      rows: Array.from({ length: Number(bytes) / 100 }, (_, id) => ({
        id,
        name: `row number ${id}`,
        tags: ['red', 'green'],
        share: id / 7,
        note: 'what stands in every row',
      })),
    }),
  },
  think: {
    description: 'Think about it, and say what that used.',
    takes: {},
    hints: readOnly,
    meta: { usage: { input_tokens: 40, output_tokens: 20, cost: 2 } },
    run: () => ({ thought: true }),
  },
  die: {
    description: 'End this server at once, without an answer.',
    takes: {},
    hints: readOnly,
    run: () => process.exit(1),
  },
  environment: {
    description: 'Tell the names of the environment variables that this server sees.',
    takes: {},
    hints: readOnly,
    run: () => ({ names: Object.keys(process.env).sort(), folder: process.cwd() }),
  },
}

function done(tool: string): Entry[] {
  const lines = file === undefined ? [] : readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line): Entry => JSON.parse(line)).filter((entry) => entry.tool === tool && entry.phase === 'done')
}

function witnessed(entry: Entry): void {
  if (witness === null) return
  writeSync(witness, `${JSON.stringify(entry)}\n`)
  fsyncSync(witness)
}

async function call(name: string, args: Args): Promise<object> {
  const tool = tools[name]
  const note = (phase: Entry['phase']) => witnessed({ tool: name, args, phase, pid: process.pid })
  try {
    if (tool === undefined) throw new Error(`there is no tool ${name}`)
    const value = await tool.run(args, note)
    const content = [{ type: 'text', text: JSON.stringify(value) }]
    return { content, structuredContent: value, ...(tool.meta === undefined ? {} : { _meta: tool.meta }) }
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: (error as Error).message }] }
  }
}

function list(): object[] {
  return Object.entries(tools).map(([name, { description, takes, optional = [], hints = {} }]) => {
    const required = Object.keys(takes).filter((parameter) => !optional.includes(parameter))
    const outputSchema = name === 'read' && OUTPUT !== undefined ? { outputSchema: JSON.parse(OUTPUT) } : {}
    const inputSchema = { type: 'object', properties: takes, required }
    return { name, description, inputSchema, ...outputSchema, annotations: hints }
  })
}

async function answer(method: string, params: { name: string; arguments?: Args }): Promise<object> {
  if (method === 'tools/call') return { result: await call(params.name, params.arguments ?? {}) }
  if (method === 'tools/list') return { result: { tools: list() } }
  if (method === 'ping') return { result: {} }
  if (method !== 'initialize') return { error: { code: -32601, message: `no method ${method}` } }
  const serverInfo = { name: 'effects', version: '1.0.0' }
  return { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } }
}

const input = createInterface({ input: process.stdin })
input.on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'notifications/cancelled')
    witnessed({ tool: 'cancelled', args: params, phase: 'done', pid: process.pid })
  if (id === undefined) return
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...(await answer(method, params)) })}\n`)
})
input.on('close', () => STUBBORN || process.exit(0))
if (STUBBORN) {
  process.on('SIGTERM', () => {})
  setTimeout(() => process.exit(0), 30_000)
}
if (DETACHED) spawn('sleep', ['30'], { detached: true, stdio: 'ignore' }).unref()
if (ESTRANGED) spawn('sh', ['-c', 'sleep 30 & echo $! >"$ESTRANGED"'], { detached: true, stdio: 'ignore' })
