/**
 * Encoded secrets on their way through a run: the server gets them as they are, program and record
 * do not.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { caller, done, openSpace, workspace } from '#test'
import type { ExecuteAnswer } from '#verbs'

test('execute() keeps encoded secrets out of the program and the record, and gives them back to their server', async (t) => {
  const secret = 'sk-abcdefghijklmnopqrstuvwx'
  const policy = { rules: [{ tool: 'fx:*', then: 'allow' }] }
  const space = workspace(t, { config: { policy, record: { secrets: ['sk-[a-z]{20,}'] } } })
  const verbs = await openSpace(space)
  const file = Buffer.from(`${'# a file as GitHub answers it\n'.repeat(3)}KEY=${secret}\n${'# and more\n'.repeat(9)}`)
  const tokens = {
    lines: file.toString('base64').replaceAll(/.{60}/g, '$&\n'),
    hex: Buffer.from(secret).toString('hex'),
    twice: Buffer.from(Buffer.from(secret).toString('base64')).toString('base64'),
    wide: Buffer.from(secret, 'utf16le').toString('base64'),
  }
  const code = `
    for (const [key, value] of Object.entries(args)) await mcp.fx.put({ key, value })
    return { args, said: await Promise.all(Object.keys(args).map((key) => mcp.fx.read({ key }))) }`
  const asked = await verbs.execute({ implementation: { type: 'code', code }, args: tokens }, caller)
  assert.equal(asked.status, 'approval_required', 'they would go to a server that they did not come from')
  let answer: ExecuteAnswer = asked
  while (answer.status === 'approval_required') {
    const [{ id }] = answer.approvals as unknown as [{ id: string }]
    answer = await verbs.decide(id, { answer: 'approved' }, caller, true)
  }
  assert.equal(answer.status, 'done', JSON.stringify(answer))
  const sent = Object.fromEntries(done(space, 'put').map(({ args }) => [args.key, args.value]))
  assert.deepEqual(sent, tokens, 'the server got the true values')
  const said = JSON.stringify(answer.result)
  assert.equal(said.match(/«secret:/g)?.length, 8, said)
  await verbs.close()
  const database = readFileSync(`${space.home}/metier.db`).toString('latin1')
  for (const text of [secret, tokens.hex, tokens.twice, tokens.wide, tokens.lines.split('\n')[2]!]) {
    const middle = text.slice(8, 24)
    assert.ok(!said.includes(middle) && !database.includes(middle), `${middle} of ${text}`)
  }
})
