/** Every send is judged by the policy of its moment, also where that changed under the run. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { parseConfig } from '#model'
import { caller, effects, openSpace, workspace } from '#test'

test('a deny that the configuration gets while a call waits for a slot holds for that call, which is never sent', async (t) => {
  const space = workspace(t)
  const config = JSON.parse(readFileSync(space.file, 'utf8'))
  config.mcpServers.fx.concurrency = 1
  writeFileSync(space.file, JSON.stringify(config))
  const verbs = await openSpace(space)
  const code = `const slow = mcp.fx.wait({ ms: 1500 }); const add = mcp.fx.add({ key: 'k', by: 1 }).catch(({ code }) => code); await slow; return await add`
  const running = verbs.execute({ implementation: { type: 'code', code } }, caller)
  while (effects(space).length === 0) await pause(5)
  config.policy.rules = [{ tool: 'fx:add', then: 'deny' }, ...config.policy.rules]
  const text = JSON.stringify(config)
  const { file, home, folder: directory } = space
  verbs.reconfigure(parseConfig({ file, text, home, env: process.env, directory }))
  const { status, result, run } = await running
  assert.deepEqual([status, result], ['done', 'PERMISSION_DENIED'])
  assert.ok(effects(space).every(({ tool }) => tool === 'wait'))
  const sent = verbs.eventsOf(run as never, { type: 'call.sent' }).map(({ body }) => (body as { call: string }).call)
  assert.deepEqual(sent, ['1'])
})
