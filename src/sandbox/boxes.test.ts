/** The life of boxes: kept warm, lost, replaced, bounded, and gone without a trace. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '#model'
import { play, resultOf, startOptions } from './play.test.ts'
import { type Boxes, type BoxesOptions, openBoxes } from './sandbox.ts'

function opened(t: TestContext, options: BoxesOptions = {}): Boxes {
  const boxes = openBoxes(options)
  t.after(() => boxes.close())
  return boxes
}

/** The processes that we started ourselves and that still live, with the words of their command. */
function children(): { pid: number; words: string[] }[] {
  const pids = readdirSync('/proc/self/task').flatMap((task) =>
    readFileSync(`/proc/self/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  )
  return pids.flatMap((pid) => {
    try {
      return [{ pid, words: readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0') }]
    } catch {
      return []
    }
  })
}

const living = () => children().map(({ pid }) => pid)

test('engine() names the engine by its version and by everything that decides what a program does', async (t) => {
  const engine = await opened(t).engine()
  assert.deepEqual([engine.name, engine.version], ['quickjs-wasi', '3.6.2'])
  assert.match(engine.digest, /^[0-9a-f]{64}$/)
  assert.deepEqual(await opened(t, { bwrap: null }).engine(), engine)
})

test('a box serves the next program after a clean end or a drop between two turns, and none after a limit', async (t) => {
  const boxes = opened(t)
  await resultOf(boxes, 'return 1')
  const first = living()
  assert.equal(first.length, 1)
  await resultOf(boxes, 'await mcp.a.b(); return 2')
  assert.equal((await play(boxes, 'throw 1')).end?.ok, false)
  assert.deepEqual(living(), first)
  await play(boxes, 'for (;;);', { limits: { ticksPerTurnMax: 5 } })
  assert.equal(await resultOf(boxes, 'return 3'), 3)
  assert(!living().includes(first[0]!))
  while (living().length > 1) await pause(10)
  const second = living()
  const dropped = await boxes.program(startOptions('globalThis.left = 1; await mcp.a.b()'))
  await dropped.start()
  dropped.drop()
  dropped.drop()
  await pause(50)
  assert.equal(await resultOf(boxes, 'return typeof left'), 'undefined')
  assert.deepEqual(living(), second)
})

test('boxes that were opened for many programs at once go when nobody needs them, but for the warm one', async (t) => {
  const boxes = opened(t, { idleMs: 200 })
  const programs = await Promise.all([1, 2, 3].map(() => boxes.program(startOptions('await mcp.a.b()'))))
  for (const program of programs) await program.start()
  assert.equal(living().length, 3)
  for (const program of programs) program.drop()
  while (living().length > 1) await pause(50)
  assert.equal(await resultOf(boxes, 'return 1'), 1)
})

test('drop() rejects the turns that are open', async (t) => {
  const boxes = opened(t)
  const program = await boxes.program(startOptions('for (;;);'))
  const turn = program.start()
  setTimeout(() => program.drop(), 50)
  await assert.rejects(turn, { code: 'CANCELLED' })
  assert.deepEqual(await program.deliver({ call: 1, ok: true, text: '1', now: 1 }), { calls: [], logs: [] })
})

test('the death of the child rejects its turn and nothing else', async (t) => {
  const boxes = opened(t)
  const other = await boxes.program(startOptions('await mcp.a.b(); return "other"'))
  await other.start()
  const before = new Set(living())
  const program = await boxes.program(startOptions('await mcp.a.b(); for (;;);'))
  await program.start()
  const turn = program.deliver({ call: 1, ok: true, text: '1', now: 1 })
  const late = program.deliver({ call: 2, ok: true, text: '1', now: 2 })
  for (const pid of living()) if (!before.has(pid)) process.kill(pid, 'SIGKILL')
  await assert.rejects(turn, {
    code: 'SANDBOX_EXECUTION_FAILED',
    message: /^Cannot continue the program: its box ended/,
  })
  await assert.rejects(late, { code: 'SANDBOX_EXECUTION_FAILED' })
  assert.deepEqual((await other.deliver({ call: 1, ok: true, text: '1', now: 1 })).end, { ok: true, value: '"other"' })
  assert.equal(await resultOf(boxes, 'return 1'), 1)
})

test('several programs run at once, each in a process of its own', async (t) => {
  const boxes = opened(t)
  const programs = await Promise.all([1, 2, 3].map((n) => boxes.program(startOptions(`await mcp.a.b(); return ${n}`))))
  for (const program of programs) await program.start()
  assert.equal(living().length, 3)
  const ends = await Promise.all(programs.map((program) => program.deliver({ call: 1, ok: true, text: '1', now: 1 })))
  assert.deepEqual(
    ends.map(({ end }) => end),
    [1, 2, 3].map((n) => ({ ok: true, value: String(n) })),
  )
})

test('close() leaves nothing alive, whatever was going on', async () => {
  const boxes = openBoxes()
  const program = await boxes.program(startOptions('for (;;);'))
  const turn = program.start()
  turn.catch(() => {})
  await boxes.close()
  await assert.rejects(turn, { code: 'CANCELLED' })
  await assert.rejects(boxes.program(startOptions('return 1')), { code: 'CANCELLED' })
  const early = openBoxes()
  const report = early.isolation()
  report.catch(() => {})
  await early.close()
  await assert.rejects(report)
  assert.deepEqual(living(), [])
})

test('a program is refused before it starts where its arguments or its seed are out of bounds', async (t) => {
  const boxes = opened(t)
  const args = JSON.stringify('x'.repeat(limits.programArgumentsBytesMax))
  await assert.rejects(boxes.program({ ...startOptions('return 1'), args }), { code: 'INVALID_INPUT_PARAM' })
  await assert.rejects(boxes.program({ ...startOptions('return 1'), seed: 'x' }), { name: 'AssertionError' })
  assert.equal(await resultOf(boxes, 'return 1'), 1)
  assert.equal(living().length, 1)
})

/**
 * A runtime that is not ours: it passes the tests of a box, then answers every program with the
 * same line.
 */
function hostileNode(t: TestContext, line: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'metier-hostile-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'node')
  const echo = '{"calls":[],"logs":[],"end":{"ok":true,"value":"\\"echo\\""}}'
  const script = `#!/bin/sh
for word; do case $word in */probe.ts) read -r ask; echo '{"open":[],"startsProcesses":true,"limits":{}}'; exit;; esac; done
while read -r ask; do case $ask in
  '{"boot"'*) echo '{"ready":true,"confined":true}';;
  *'return args'*) echo '${echo}';;
  *) ${line};;
esac; done
`
  writeFileSync(file, script)
  chmodSync(file, 0o755)
  return file
}

test('a child that was taken over can end its program, and do nothing else', async (t) => {
  const lies: Record<string, string> = {
    'no JSON': `echo nonsense`,
    'no turn': `echo '{"calls":1,"logs":[]}'`,
    'a call that is no call': `echo '{"calls":[["a:b",{}]],"logs":[]}'`,
    'arguments that are no JSON': `echo '{"calls":[["a:b","1},{"]],"logs":[]}'`,
    'arguments on two lines': `echo '{"calls":[["a:b","[\\\\n]"]],"logs":[]}'`,
    'a value that is no JSON': `echo '{"calls":[],"logs":[],"end":{"ok":true,"value":"1},{"}}'`,
    'too many calls': `echo '{"calls":[${'["a:b","1"],'.repeat(20_000)}["a:b","1"]],"logs":[]}'`,
    'a level that is none': `echo '{"calls":[],"logs":[["fatal","x"]]}'`,
    'an unknown limit': `echo '{"calls":[],"logs":[],"end":{"ok":false,"limit":"patience"}}'`,
    'a code that is none': `echo '{"calls":[],"logs":[],"end":{"ok":false,"error":{"tool":"a:b","data":{"code":"ROOT","message":"m"}}}}'`,
    'two answers': `printf '{"calls":[["a:b","1"]],"logs":[]}\\n{"calls":[],"logs":[]}\\n'`,
    'the end of the process': `exit 0`,
    'the end of the output': `exec >&-`,
  }
  for (const [name, line] of Object.entries(lies)) {
    const boxes = opened(t, { node: hostileNode(t, line), bwrap: null })
    await assert.rejects(play(boxes, 'await mcp.a.b()'), { code: 'SANDBOX_EXECUTION_FAILED' }, name)
    await boxes.close()
  }
})

test('no more boxes are opened than the bound allows, and one that ends makes room', async (t) => {
  const node = hostileNode(t, `echo '{"calls":[["a:b","1"]],"logs":[]}'`)
  const boxes = opened(t, { node, bwrap: null })
  const programs = []
  for (let i = 0; i < limits.boxesMax; i += 1) programs.push(await boxes.program(startOptions('await mcp.a.b()')))
  await assert.rejects(boxes.program(startOptions('return 1')), {
    code: 'SANDBOX_SETUP_FAILED',
    context: { boxesMax: limits.boxesMax },
  })
  programs[0]!.drop()
  const last = await boxes.program(startOptions('await mcp.a.b()'))
  assert.equal((await last.start()).calls.length, 1)
})

test('a child that does not start is said to be missing, with what it said', async (t) => {
  for (const node of ['/bin/false', '/nonexistent/node']) {
    await assert.rejects(opened(t, { node, bwrap: null }).isolation(), { code: /^SANDBOX_/ })
  }
})
