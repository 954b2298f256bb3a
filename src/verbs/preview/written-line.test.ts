/**
 * Lines of policy that answers write: what is said of them, and that no older one beats a stricter
 * file.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JsonObject, PermissionSet, PolicyRule } from '#model'
import { caller, done, openSpace, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

const add = (key: string) =>
  `try { return (await mcp.fx.add({ key: '${key}', by: 1 })).total } catch (error) { return error.code }`
const pay = `await mcp.fx.pay({ account: 'a', amount: 1 })`
const run = (verbs: Verbs, code: string, permissions?: PermissionSet) =>
  verbs.execute({ implementation: { type: 'code', code }, ...(permissions && { permissions }) }, caller)
const idOf = ({ approvals }: JsonObject) => (approvals as { id: string }[])[0]!.id

function withPolicy(space: Workspace, policy: { permissions: PermissionSet; rules?: PolicyRule[] }): Promise<Verbs> {
  const file = JSON.parse(readFileSync(space.file, 'utf8'))
  writeFileSync(space.file, JSON.stringify({ ...file, policy }))
  return openSpace(space)
}

test('decide() says of a line what it will do, and under a rule of the file that asks it says that it does nothing', async (t) => {
  const space = workspace(t)
  const plain = await withPolicy(space, { permissions: 'standard' })
  const asked = await run(plain, add('a'))
  const [question] = await plain.withPlannedTools(plain.approvals())
  const { line } = await plain.decide(idOf(asked), { answer: 'approved', scope: 'always' }, caller, true)
  const says = `fx:add passes without a question in every run, until the file's permissions are stricter than "standard"`
  const rule = { tool: 'fx:add', then: 'allow' }
  assert.deepEqual(line, { rule, scope: 'always', permissions: 'standard', then: 'allow', says })
  assert.deepEqual(question!.lines, { run: says.replace('in every run', 'for the rest of this run'), always: says })
  assert.equal((await run(plain, add('b'))).result, 1, 'it does what was said')
  assert.equal((await plain.decide(idOf(await run(plain, pay)), { answer: 'approved' }, caller, true)).line, undefined)

  const asking = await withPolicy(space, { permissions: 'standard', rules: [{ tool: 'fx:*', then: 'ask' }] })
  for (const scope of ['run', 'always'] as const) {
    const again = await run(asking, add('c'))
    const answer = await asking.decide(idOf(again), { answer: 'approved', scope }, caller, true)
    const { then, says } = answer.line as { then: string; says: string }
    assert.equal(then, 'ask')
    assert.match(says, /^without effect: rule 1 of the file asks about every call of it/)
    assert.equal((await run(asking, add('d'))).status, 'approval_required', 'it does what was said')
  }
})

test('decide(): no line beats a permission set of the file that became stricter after it, nor one that a run asks for', async (t) => {
  const space = workspace(t)
  const first = await withPolicy(space, { permissions: 'standard' })
  const waiting = await run(first, pay)
  await first.decide(idOf(await run(first, add('c'))), { answer: 'approved', scope: 'always' }, caller, true)
  assert.equal((await run(first, add('d'))).result, 1)
  assert.equal((await run(first, add('e'), 'minimal')).result, 'PERMISSION_DENIED')
  const [{ body } = { body: {} }] = first.eventsOf('home', { type: 'policy.changed' })
  assert.equal((body as { permissions?: string }).permissions, 'standard')

  const minimal = await withPolicy(space, { permissions: 'minimal' })
  assert.equal((await run(minimal, add('f'))).result, 'PERMISSION_DENIED')
  await assert.rejects(minimal.decide(idOf(waiting), { answer: 'approved' }, caller, true), {
    code: 'PERMISSION_DENIED',
  })
  assert.equal(done(space, 'add').length, 2, 'c and d alone')

  const again = await withPolicy(space, { permissions: 'standard' })
  assert.equal((await run(again, add('g'))).result, 1, 'as wide as it was, the line holds again')
})
