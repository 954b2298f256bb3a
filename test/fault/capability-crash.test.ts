/**
 * A run that is killed inside of nested capabilities, again and again, while they are replaced and
 * forgotten: resumed, it goes on with the sources it began with, and does nothing twice.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { done, metier, openSpace, schemaOf, teach, workspace } from '#test'

const parameters = schemaOf({ key: { type: 'string' } })
const outer = `const first = await cap.inner({ key: args.key + '1' })
const { value } = await mcp.fx.read({ key: args.key })
return [first, value, await cap.inner({ key: args.key + '2' })]`
const inner = `const all = []
for (const amount of [1, 2]) all.push((await mcp.fx.pay({ account: args.key, amount })).amount)
return all`
const program = `return await Promise.all([cap.outer({ key: 'a' }), cap.outer({ key: 'b' })])`

test('a run killed inside of capabilities goes on with their first sources, and pays nothing twice', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  await teach(verbs.store, 'outer', outer, { parametersSchema: parameters })
  await teach(verbs.store, 'inner', inner, { parametersSchema: parameters })
  let seen = 0
  const newest = () => (verbs.runs() as { run: string }[])[0]?.run
  const isFurther = () => (newest() === undefined ? 0 : verbs.lines(newest()!).length) >= seen + 9
  let ran = await metier(space, ['execute', '--code', '-', '--json'], { input: program, killWhen: isFurther })
  let kills = 0
  for (; ran.killed; kills++) {
    const run = newest()!
    seen = verbs.lines(run).length
    const others = `return 'version ${kills + 2}'`
    await teach(verbs.store, 'outer', others, { version: kills + 2, parametersSchema: parameters })
    ran = await metier(space, ['run', 'resume', run, '--json'], { killWhen: isFurther })
  }
  const nested = [[1, 2], null, [1, 2]]
  assert.deepEqual([ran.json?.status, ran.json?.result], ['done', [nested, nested]], ran.stdout + ran.stderr)
  assert.ok(kills >= 2, `it was killed ${kills} times`)
  assert.equal(done(space, 'pay').length, 8)
  assert.equal((await verbs.replay(newest()!)).ok, true)
})
