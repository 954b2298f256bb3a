/**
 * Ways out of the engine, and ways into the bridge, from every kind of box: each program tries one
 * and says what it got.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { escapes, vandals } from './escape-programs.test.ts'
import { prelude } from './inside/guest.ts'
import { places } from './places.test.ts'
import { play, resultOf } from './play.test.ts'
import { bootMessage } from './program.ts'
import type { Boxes } from './sandbox.ts'

for (const { name: place, engine, skip, open } of places) {
  describe(`no way out of ${place}`, { skip }, () => {
    let boxes: Boxes
    let close: () => Promise<void>
    before(() => {
      ;({ boxes, close } = open())
    })
    const known = Object.getOwnPropertyNames(Object.prototype)
    after(async () => {
      await close()
      assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), known, 'nothing of ours was changed')
    })

    for (const [name, { code, value, inV8, calls, logs }] of Object.entries(escapes)) {
      test(name, async () => {
        const { end, ...played } = await play(boxes, code)
        assert(end?.ok, `ended with ${JSON.stringify(end)}`)
        assert.deepEqual(JSON.parse(end.value), engine === 'v8' && inV8 !== undefined ? inV8 : value)
        if (calls) assert.deepEqual(played.calls, calls)
        if (logs) assert.deepEqual(played.logs, logs)
      })
    }

    for (const [name, vandalism] of Object.entries(vandals)) {
      test(`into the bridge: ${name}`, () => withstands(boxes, vandalism))
    }

    // V8's JSON cannot be broken so.
    if (engine === 'quickjs')
      test('a program that breaks the engine’s own JSON breaks itself alone', async () => {
        const setters = `for (let i = 0; i < 20; i++) for (const p of [Object.prototype, Array.prototype])
          Object.defineProperty(p, i, { set() { mcp.again.and({}); throw new Error('no') }, get() { return 'stolen' }, configurable: true })
          await mcp.a.b({ n: 1 })`
        const { end, calls } = await play(boxes, setters, { limits: { ticksPerTurnMax: 50 } })
        assert.equal(end?.ok, false)
        assert.deepEqual(calls, [])
        assert.equal(await resultOf(boxes, 'return 1'), 1)
      })

    test('a program cannot answer its own calls, hide them, or end twice', async () => {
      const { calls, end } = await play(
        boxes,
        `const names = Object.getOwnPropertyNames(globalThis).filter((n) => /deliver|take|finish|bridge|begin|warn|host|issue/i.test(n))
         const p = mcp.a.b({ n: 1 }); let early = false; p.then(() => { early = true }); await null; await null
         return [names, early, await p]`,
      )
      assert.equal(calls.length, 1)
      assert.deepEqual(end, { ok: true, value: '[[],false,{"n":1}]' })
    })

    test('huge outputs reach nobody: a line is cut, a value is refused, a call is refused', async () => {
      const { logs, end } = await play(
        boxes,
        `console.log('x'.repeat(1e7)); let refused; try { await mcp.a.b('x'.repeat(1e7)) } catch (e) { refused = e.code } return refused`,
      )
      assert(logs[0]!.text.length < 10_000)
      assert.deepEqual(end, { ok: true, value: '"INVALID_INPUT_PARAM"' })
    })

    test('two programs do not see each other, beside or after one another in the same process', async () => {
      const leave = `globalThis.secret = 'left'; Object.prototype.secret = 'left'; Array.prototype.map = () => 'left'; await mcp.a.b(); return 1`
      const look = `return [typeof globalThis.secret, [1].map((x) => x + 1), ({}).secret === undefined]`
      const clean = ['undefined', [2], true]
      await resultOf(boxes, leave)
      assert.deepEqual(await resultOf(boxes, look), clean)
      const both = await Promise.all([resultOf(boxes, leave), resultOf(boxes, look), resultOf(boxes, leave)])
      assert.deepEqual(both, [1, clean, 1])
    })
  })
}

test('the prelude has no template literal, because the engine makes it a call of the program’s concat', () => {
  const { boot } = bootMessage(null)
  assert(!prelude(boot.guest).includes('`'))
})

/** The same calls with the same results as without. */
async function withstands(boxes: Boxes, vandalism: string): Promise<void> {
  const code = (act: string) => `${act}
      const first = await mcp.a.b({ n: 1, deep: { list: 'x' } })
      let code, tool_
      try { await tool('c:d', { n: 2 }) } catch (e) { code = e.code; tool_ = e.tool }
      await sleep(5)
      const { n } = await mcp.e.f({ code, tool_, n: first.n })
      if (n !== 1) throw 'wrong'
      await mcp.g.h({ last: true })`
  const answer = ({ tool, args }: { tool: string; args: string }) =>
    tool === 'c:d'
      ? { ok: false as const, code: 'TOOL_ERROR', message: 'refused' }
      : { ok: true as const, value: JSON.parse(args) }
  const honest = await play(boxes, code(''), { answer })
  const hostile = await play(boxes, code(vandalism), { answer })
  assert.deepEqual(hostile.calls, honest.calls)
  assert.deepEqual(hostile.deliveries, honest.deliveries)
  assert.equal(honest.calls.length, 5)
  assert.equal(hostile.end?.ok ?? `${JSON.stringify(hostile)}`, true)
}
