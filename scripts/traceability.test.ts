/**
 * Tests of the check of docs/traceability.md: the page as it is passes, and each kind of lie in it
 * is seen.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { checkTraceability } from './traceability.ts'

const requirements = { 'one.md': ['REQ_1', { id: 'group', names: ['a', 'b'] }], 'two.md': ['sup.{id}.inbox'] }
const head = '# Page\n\n| requirement | specification | module | test | status |\n|---|---|---|---|---|\n'
const good = {
  req: '| `REQ_1` does it | one.md §1 | `src/run/engine.ts` | `src/run/engine.test.ts` | Implemented |',
  group: '| `group` of `a`, `b` | one.md §2 | `src/learn/` | — | Planned |',
  inbox:
    '| `sup.{id}.inbox` takes `x \\| y` | two.md Subjects | `src/run/engine.ts` | `src/run/engine.test.ts` | Partial |',
}

/** What is wrong with the good page after these lines were put in the place of its own. */
function problemsWith(change: Partial<Record<keyof typeof good | 'extra', string>>): string[] {
  const root = mkdtempSync(join(tmpdir(), 'traceability-'))
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  try {
    write('scripts/requirements.json', JSON.stringify(requirements))
    write('docs/traceability.md', `${head}${Object.values({ ...good, ...change }).join('\n')}\n`)
    write('src/run/engine.ts', '')
    write('src/run/engine.test.ts', '')
    return checkTraceability(root)
  } finally {
    rmSync(root, { recursive: true })
  }
}

const at = (line: number, text: string) => [`docs/traceability.md:${line}: ${text}`]

test('checkTraceability() accepts a true page', () => assert.deepEqual(problemsWith({}), []))

test('checkTraceability() accepts our page', () => {
  assert.deepEqual(checkTraceability(dirname(import.meta.dirname)), [])
})

test('checkTraceability() wants each requirement exactly once', () => {
  assert.deepEqual(problemsWith({ req: '' }), at(1, '"REQ_1" has no line'))
  assert.deepEqual(problemsWith({ extra: good.req }), at(8, '"REQ_1" has a second line'))
  const invented = good.req.replace('REQ_1', 'REQ_2')
  assert.deepEqual(problemsWith({ extra: invented }), at(8, '"REQ_2" is no requirement of scripts/requirements.json'))
})

test('checkTraceability() wants the right specification, and each name of a group', () => {
  assert.deepEqual(
    problemsWith({ req: good.req.replace('one.md', 'two.md') }),
    at(5, '"REQ_1" is of one.md, not of two.md'),
  )
  assert.deepEqual(problemsWith({ group: good.group.replace('`b`', 'b') }), at(6, '"group" does not say `b`'))
})

test('checkTraceability() knows three statuses', () => {
  const done = good.req.replace('Implemented', 'Done')
  assert.deepEqual(problemsWith({ req: done }), at(5, '"REQ_1" is "Done", not one of Planned, Partial, Implemented'))
})

test('checkTraceability() wants module and test of what is claimed', () => {
  const missing = (path: string) => at(5, `"REQ_1" names ${path}, which does not exist`)
  assert.deepEqual(problemsWith({ req: good.req.replace('engine.ts', 'motor.ts') }), missing('src/run/motor.ts'))
  assert.deepEqual(
    problemsWith({ req: good.req.replace('engine.test', 'motor.test') }),
    missing('src/run/motor.test.ts'),
  )
  const untested = good.inbox.replace('`src/run/engine.test.ts`', '—')
  assert.deepEqual(problemsWith({ inbox: untested }), at(7, '"sup.{id}.inbox" is Partial without a test'))
  assert.deepEqual(problemsWith({ group: good.group.replace('`src/learn/`', '') }), at(6, '"group" names no module'))
})

test('checkTraceability() lets plans name only folders of the design', () => {
  const lost = good.group.replace('src/learn/', 'src/brain/')
  assert.deepEqual(
    problemsWith({ group: lost }),
    at(6, '"group" is planned for src/brain/, which is no folder of the design'),
  )
})
