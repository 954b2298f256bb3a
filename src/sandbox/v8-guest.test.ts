/**
 * What a program sees and does on V8 is what it sees and does on the other engine: the same tests,
 * once more.
 */
import { test } from 'node:test'
import { places } from './places.test.ts'

const { skip } = places.find(({ engine }) => engine === 'v8')!
if (skip) test('a program on V8', { skip }, () => {})
else {
  process.env.METIER_TEST_ENGINE = 'v8'
  await import('./guest.test.ts')
  await import('./determinism.test.ts')
  await import('./trace.test.ts')
}
