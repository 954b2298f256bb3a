/** A server that is killed or away for a moment while runs use it. */
import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { caller, effects, openSpace, root, type Workspace, workspace } from '#test'

const code = (text: string) => ({ implementation: { type: 'code', code: text } })

/** A server that cannot be started while a file is there. */
async function open(t: TestContext) {
  const space = workspace(t)
  const down = join(space.folder, 'down')
  const fx = {
    command: 'sh',
    args: ['-c', `test -e "${down}" && exit 1; exec "${process.execPath}" "${join(root, 'test/servers/effects.ts')}"`],
    env: { EFFECTS: space.witness },
  }
  writeFileSync(
    space.file,
    JSON.stringify({ mcpServers: { fx }, policy: { rules: [{ tool: 'fx:*', then: 'allow' }] } }),
  )
  return { space, down, verbs: await openSpace(space) }
}

/** Resolves when the process is gone, and we had a moment to notice. */
async function killServer(space: Workspace, begun: number): Promise<void> {
  while (effects(space).length < begun) await pause(5)
  const { pid } = effects(space)[0]!
  process.kill(pid, 'SIGKILL')
  while (isRunning(pid)) await pause(5)
  await pause(300)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('reads under way when their server is killed are made again once it is back', async (t) => {
  const { space, down, verbs } = await open(t)
  const running = verbs.execute(
    code(`return (await Promise.all([1, 2, 3].map((i) => mcp.fx.wait({ ms: 300 + i })))).length`),
    caller,
  )
  while (effects(space).length < 3) await pause(5)
  writeFileSync(down, '')
  await killServer(space, 3)
  await pause(1200)
  rmSync(down)
  const { status, result } = await running
  assert.deepEqual([status, result], ['done', 3])
})

test('an unsafe call waits for a server that is away, and is made once', async (t) => {
  const { space, down, verbs } = await open(t)
  await verbs.execute(code(`await mcp.fx.wait({ ms: 1 })`), caller)
  writeFileSync(down, '')
  await killServer(space, 1)
  const running = verbs.execute(code(`return await mcp.fx.add({ key: 'k', by: 1 })`), caller)
  await pause(1200)
  rmSync(down)
  assert.deepEqual((await running).result, { key: 'k', total: 1 })
  const { run } = await running
  const sent = verbs.eventsOf(run as never).filter(({ type }) => type === 'call.sent')
  assert.equal(sent.length, 1, 'only what was about to leave is on the record as sent')
})

test('a server that stays away is given up on after some seconds, with what it last said', async (t) => {
  const { space, down, verbs } = await open(t)
  await verbs.execute(code(`await mcp.fx.wait({ ms: 1 })`), caller)
  writeFileSync(down, '')
  await killServer(space, 1)
  const began = Date.now()
  const { status, result } = await verbs.execute(
    code(`return await mcp.fx.add({ key: 'k', by: 1 }).catch(({ code }) => code)`),
    caller,
  )
  assert.deepEqual([status, result], ['done', 'UPSTREAM_UNREACHABLE'])
  assert.ok(Date.now() - began >= 4000, 'it was waited for')
})
