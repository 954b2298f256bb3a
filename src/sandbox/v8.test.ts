/**
 * The engine that a user may choose: found or refused with the command that helps, bounded, and
 * never without a box around it.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import type { AppError } from '#model'
import { places } from './places.test.ts'
import { play, resultOf } from './play.test.ts'
import { type Boxes, openBoxes } from './sandbox.ts'
import { findIsolatedVm, isolatedVmVersion } from './v8.ts'

const fix = `npm install --ignore-scripts isolated-vm@${isolatedVmVersion}`

/** A folder with a package of this version in it, and nothing built. */
function folderWith(t: TestContext, version: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'metier-v8-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const place = join(folder, 'node_modules', 'isolated-vm')
  mkdirSync(place, { recursive: true })
  if (version !== null) writeFileSync(join(place, 'package.json'), JSON.stringify({ version }))
  return folder
}

test('findIsolatedVm() refuses what is not there, not built for this Node, or has known holes', (t) => {
  const refused = (version: string | null, why: RegExp) =>
    assert.throws(
      () => findIsolatedVm([folderWith(t, version)]),
      (error: AppError) => {
        assert.deepEqual([error.code, error.context.fix], ['SANDBOX_SETUP_FAILED', fix])
        assert.match(error.message, why)
        return true
      },
    )
  refused(null, /^Cannot use the engine "v8": isolated-vm is not installed\. Run: npm install/)
  for (const old of ['7.0.0', '6.9.9', '5.0.1', '7.0.1-rc1', 'x']) refused(old, /has holes that 7\.0\.1 closed/)
  refused('7.0.1', /was not built for Node/)
  refused('8.1.0', /was not built for Node/)
})

const { skip, open } = places.find(({ engine }) => engine === 'v8')!

test('without a box of the system there is no V8, and the refusal says what helps', { skip }, async () => {
  const boxes = openBoxes({ engine: 'v8', bwrap: null, runsc: null })
  const refusal = {
    code: 'SANDBOX_SETUP_FAILED',
    message: /^Cannot use the engine "v8" without a box .*apt-get install/,
  }
  await assert.rejects(boxes.isolation(), refusal)
  await assert.rejects(resultOf(boxes, 'return 1'), refusal)
  await boxes.close()
})

test('a bubblewrap that does not hold is no box for V8', { skip }, async () => {
  const boxes = openBoxes({ engine: 'v8', bwrap: '/bin/false', runsc: null })
  await assert.rejects(boxes.isolation(), { code: 'SANDBOX_SETUP_FAILED', message: /bubblewrap does not hold/ })
  await boxes.close()
})

describe('a program on V8', { skip }, () => {
  let boxes: Boxes
  let close: () => Promise<void>
  before(() => {
    ;({ boxes, close } = open())
  })
  after(() => close())

  test('its report and its identity name the engine, and what is weaker', async () => {
    const { layers, runtime, enforced, degraded } = await boxes.isolation()
    assert.deepEqual(layers.slice(0, 4), ['v8-isolate', 'process', 'node-permission', 'bubblewrap'])
    assert.deepEqual([runtime, enforced.cpu], [{ name: 'isolated-vm', version: isolatedVmVersion }, 'timeout'])
    assert.match(degraded.join('\n'), /counts no ticks.*\n.*may replay differently/)
    const { name, digest } = await boxes.engine()
    assert.equal(name, 'isolated-vm')
    const other = openBoxes()
    assert.notEqual((await other.engine()).digest, digest)
    await other.close()
  })

  const narrow = { limits: { ticksPerTurnMax: 200 } }
  const bombs: Record<string, { code: string; limit: string }> = {
    loop: { code: 'while (true) {}', limit: 'time' },
    'loop of microtasks': { code: 'for (;;) await null', limit: 'time' },
    'a regular expression': { code: `/^(a+)+$/.test('a'.repeat(60) + 'b')`, limit: 'time' },
    'a value that computes': { code: 'return { toJSON() { for (;;); } }', limit: 'time' },
    arrays: { code: 'const a = []; while (true) a.push(new Array(100000).fill(1))', limit: 'memory' },
    strings: { code: `const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e5).split(''))`, limit: 'memory' },
    'a map of maps': {
      code: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, new Map([[i, i]]))',
      limit: 'memory',
    },
    'an array that ends the process': { code: 'Array.from({ length: 5e7 }, () => 0)', limit: 'memory' },
  }
  for (const [name, { code, limit }] of Object.entries(bombs)) {
    test(`${name}: ends with the limit of ${limit}, and nothing catches it`, async () => {
      const guarded = name.startsWith('a value')
        ? code
        : `try { ${code} } catch { return 'caught' } finally { return 'finally' }`
      const { end } = await play(boxes, guarded, limit === 'time' ? narrow : {})
      assert(end && !end.ok, JSON.stringify(end))
      assert.deepEqual([end.error.code, end.error.context], ['SANDBOX_RESOURCE_LIMIT', { limit }])
      assert.equal(await resultOf(boxes, 'return 1'), 1)
    })
  }

  test('a rejection that looks like the end of the time is only a rejection', async () => {
    const code = `Promise.reject(new Error('Script execution timed out.')); Promise.reject(new Error('Isolate was disposed during execution due to memory limit'))
      await mcp.a.b(); return 1`
    assert.equal(await resultOf(boxes, code), 1)
  })
})
