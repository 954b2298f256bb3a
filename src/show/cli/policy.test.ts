/** What the terminal says about policy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metier, workspace } from '#test'

test('policy explain names the line that decides, the danger of a tool, and a rule that .. does not dodge', async (t) => {
  const rules = [{ tool: 'fx:put', args: { '/key': '/etc/**' }, then: 'deny' }]
  const space = workspace(t, { config: { policy: { permissions: 'standard', rules } } })
  const explain = async (...words: string[]) => (await metier(space, ['policy', 'explain', ...words, '--json'])).json
  const add = await explain('fx:add')
  assert.deepEqual([add.then, add.danger], ['ask', 'it does not say that it destroys nothing'])
  const put = await explain('fx:put', '{"key":"/tmp/../etc/x"}')
  assert.deepEqual([put.then, put.danger], ['deny', null])
  assert.match(put.because, /^rule 1 of the policy/)
  const open = await explain('fx:put')
  assert.deepEqual([open.then, /its arguments/.test(open.because)], [null, true], 'without them nobody can tell')
  assert.equal((await metier(space, ['policy', 'explain', 'fx:put', 'no json'])).code, 2)
  const { stdout } = await metier(space, ['policy', 'explain', 'fx:pay'])
  assert.match(stdout, /^ask: .*and dangerous: a name with "pay" moves money/)
})
