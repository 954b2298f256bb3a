/** What the terminal says about policy. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { metier, workspace } from '#test'

test('policy explain names the line that decides, the danger of a tool, and a rule that .. does not dodge', async (t) => {
  const rules = [{ tool: 'fx:put', args: { '/key': '/etc/**' }, then: 'deny' }]
  const space = workspace(t, { config: { policy: { permissions: 'standard', rules } } })
  const explain = async (...words: string[]) => (await metier(space, ['policy', 'explain', ...words, '--json'])).json
  const add = await explain('fx:add')
  assert.deepEqual([add.then, add.danger], ['ask', 'effect unknown, it does not say whether it destroys'])
  const put = await explain('fx:put', '{"key":"/tmp/../etc/x"}')
  assert.deepEqual([put.then, put.danger], ['deny', null])
  assert.match(put.because, /^rule 1 of the policy/)
  const elsewise = await explain('fx:put', '{"key":["file:///ETC/%78"]}')
  assert.match(elsewise.because, /since its "\/key" reads as "\/etc\/x"$/)
  assert.ok(
    elsewise.notCovered.some((item: string) => /symbolic/.test(item)),
    JSON.stringify(elsewise),
  )
  assert.equal(add.notCovered, undefined, 'no rule compares its arguments')
  assert.match((await metier(space, ['policy', 'explain', 'fx:put', '{"key":"a"}'])).stdout, /^not covered: symbolic/m)
  const open = await explain('fx:put')
  assert.deepEqual([open.then, /its arguments/.test(open.because)], [null, true], 'without them nobody can tell')
  assert.equal((await metier(space, ['policy', 'explain', 'fx:put', 'no json'])).code, 2)
  const { stdout } = await metier(space, ['policy', 'explain', 'fx:pay'])
  assert.match(stdout, /^ask: .*and dangerous: a name with "pay" moves money/)
})

test('policy lists what stands with an id, and policy forget takes it back', async (t) => {
  const policy = { permissions: 'standard', rules: [{ tool: 'fx:read', then: 'ask' }] }
  const space = workspace(t, { config: { policy } })
  const call = () => metier(space, ['call', 'fx:add', '{"key":"k","by":1}', '--json'])
  const asked = await call()
  assert.equal(asked.code, 5)
  const approved = await metier(space, ['approve', asked.json.approvals[0].id, '--always'])
  assert.equal(approved.code, 0)
  assert.match(
    approved.stderr,
    /the line {"tool":"fx:add","then":"allow"}: fx:add passes without a question in every run/,
  )
  assert.equal((await call()).json.status, 'done')
  const [{ id }] = (await metier(space, ['policy', '--json'])).json.standing
  const listed = (await metier(space, ['policy'])).stdout.split('\n')
  assert.match(listed[0]!, /^1\. .*fx:read.* \(file\)$/)
  assert.match(
    listed[1]!,
    new RegExp(`^2\\. {"tool":"fx:add","then":"allow"} \\(always, by .* policy forget ${id}\\)$`),
  )
  const file = readFileSync(space.file, 'utf8')
  writeFileSync(space.file, file.replace('"standard"', '"minimal"'))
  assert.equal((await call()).json.error.code, 'PERMISSION_DENIED')
  const [stricter] = (await metier(space, ['policy', '--json'])).json.standing
  assert.deepEqual([stricter.permissions, stricter.isInForce], ['standard', false])
  assert.match((await metier(space, ['policy'])).stdout, /^without effect: {"tool":"fx:add".*given under "standard"/m)
  writeFileSync(space.file, file)
  const forgot = await metier(space, ['policy', 'forget', String(id)])
  assert.deepEqual([forgot.code, forgot.stdout], [0, '✓ {"tool":"fx:add","then":"allow"} does not stand any more\n'])
  assert.equal((await call()).json.status, 'approval_required')
  assert.deepEqual((await metier(space, ['policy', '--json'])).json.standing, [])
  const again = await metier(space, ['policy', 'forget', String(id), '--json'])
  assert.deepEqual([again.code, again.json.error.code], [1, 'INVALID_INPUT_PARAM'])
  assert.equal((await metier(space, ['policy', 'forget'])).code, 2)
})
