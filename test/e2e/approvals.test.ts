/**
 * Who goes on with a run after an answer, with a process for each: a gateway that can, else
 * the process that answered, or none yet.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { binary, browserProgram, done, metier, openBrowser, serve, type Workspace, workspace } from '#test'

const config = { policy: { permissions: 'standard', rules: [] } }
const program = (key: string) =>
  `try { return (await mcp.fx.add({ key: '${key}', by: 1 })).total } catch (error) { return error.code }`

async function asked(space: Workspace, key: string): Promise<{ id: string; run: string; url: string | null }> {
  const { json, stdout, code } = await metier(space, ['execute', 'count', '--code', '-', '--json'], {
    input: program(key),
  })
  assert.deepEqual([code, json?.status], [5, 'approval_required'], stdout)
  return { ...json.approvals[0], run: json.run }
}

/** Who went on with a run, in order. */
async function resumedBy(space: Workspace, run: string): Promise<string[]> {
  const { stdout } = await metier(space, ['audit', 'show', run, '--json'])
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return events.filter(({ type }) => type === 'run.resumed').map(({ body }) => body.by)
}

async function settled(space: Workspace, run: string): Promise<{ status: string; result: unknown }> {
  for (let round = 0; round < 30; round++) {
    const { json } = await metier(space, ['run', 'show', run, '--json'])
    if (json.status === 'done') return json
    await pause(100)
  }
  throw new Error(`Cannot go on with the test: run ${run} was not finished`)
}

const made = (space: Workspace, key: string) => done(space, 'add').filter(({ args }) => args.key === key).length

test('whoever answers goes on with the run, or only records it, and a gateway that starts takes up what was recorded', async (t) => {
  const space = workspace(t, { config })
  const [first, second, third] = [await asked(space, 'a'), await asked(space, 'b'), await asked(space, 'c')]
  assert.equal(first.url, null, 'there is no page without a gateway')
  const approved = await metier(space, ['approve', first.id, '--json'])
  assert.deepEqual([approved.code, approved.json.status, approved.json.result], [0, 'done', 1], approved.stdout)
  assert.deepEqual(await resumedBy(space, first.run), [userInfo().username])

  assert.equal((await metier(space, ['approve', second.id, '--run', '--always'])).code, 2, 'which of the two?')
  const recorded = await metier(space, ['approve', second.id, '--no-resume', '--json'])
  assert.deepEqual([recorded.code, recorded.json.status, recorded.json.approvals], [0, 'approval_required', []])
  const both = await Promise.all([
    metier(space, ['approve', third.id, '--no-resume', '--json']),
    metier(space, ['deny', third.id, '--no-resume', '--json']),
  ])
  assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1], 'of two answers at once one holds')
  assert.equal(both.find(({ code }) => code === 1)!.json.error.code, 'INVALID_INPUT_PARAM')

  const host = new StdioClientTransport({
    command: binary,
    args: ['serve', '--stdio'],
    env: { PATH: process.env.PATH!, METIER_HOME: space.home, METIER_CONFIG: space.file },
    stderr: 'ignore',
  })
  await host.start()
  const careful = await serve(t, space, ['--no-resume'])
  await pause(300)
  assert.equal(made(space, 'b'), 0, 'neither a server over stdio nor one that is told not to takes anything up')
  await careful.stop()
  await host.close()

  const gateway = await serve(t, space)
  assert.equal((await settled(space, second.run)).result, 1)
  assert.deepEqual(await resumedBy(space, second.run), ['gateway'])
  const { result } = await settled(space, third.run)
  assert.equal(result, both[0].code === 0 ? 1 : 'APPROVAL_DENIED')
  assert.deepEqual([made(space, 'a'), made(space, 'b'), made(space, 'c')], [1, 1, both[0].code === 0 ? 1 : 0])
  assert.equal(await gateway.stop(), 0, gateway.stderr())
})

test('a gateway with the same servers goes on with the run; with others it is left to whoever answered', async (t) => {
  const space = workspace(t, { config })
  const gateway = await serve(t, space)
  const first = await asked(space, 'a')
  assert.equal(first.url, `${gateway.url}/approvals/${first.id}`)
  assert.equal((await metier(space, ['approve', first.id])).code, 0)
  assert.equal((await settled(space, first.run)).result, 1)
  assert.deepEqual(await resumedBy(space, first.run), ['gateway'])

  const file = join(space.folder, 'other.json')
  const text = JSON.parse(readFileSync(space.file, 'utf8'))
  text.mcpServers.fx.env.OTHER = '1'
  writeFileSync(file, JSON.stringify(text))
  const other: Workspace = { ...space, file }
  const second = await asked(other, 'b')
  const approved = await metier(other, ['approve', second.id, '--json'])
  assert.deepEqual([approved.code, approved.json.result], [0, 1], approved.stdout)
  assert.deepEqual(await resumedBy(other, second.run), [userInfo().username])
  assert.deepEqual([made(space, 'a'), made(space, 'b')], [1, 1])
})

test('approvals watch shows each question as it comes, with all that is known of it, until it is stopped', async (t) => {
  const space = workspace(t, { config })
  const env = { PATH: process.env.PATH!, METIER_HOME: space.home, METIER_CONFIG: space.file, NO_COLOR: '1' }
  const watch = spawn(binary, ['approvals', 'watch'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => watch.kill('SIGKILL'))
  const ended = once(watch, 'exit')
  await once(watch.stderr, 'data')
  let shown = ''
  watch.stdout.on('data', (chunk) => {
    shown += chunk
  })
  const [first, second] = [await asked(space, 'a\u001b[2J'), await asked(space, 'b')]
  while (!shown.includes(`metier deny ${second.id}`)) await once(watch.stdout, 'data')
  assert.match(
    shown,
    /^\? fx:add \{\n {2}"key": "a\\u001b\[2J",\n {2}"by": 1\n\}\n {4}\/key: the program's own text, line 1\n/,
  )
  assert.match(
    shown,
    /asked because: .*effect: unsafe\n {2}the run is for: count\n {2}the plan of its run may call fx:add \(line 1\)/,
  )
  assert.equal(shown.split(`metier approve ${first.id}`).length, 2, 'each is shown once')
  watch.kill('SIGINT')
  assert.deepEqual(await ended, [0, null], 'to stop it is how it ends')
})

const needsBrowser = browserProgram === null ? 'needs chromium: node scripts/services.ts up chromium' : false

test('a human answers in a browser, where nothing that an agent wrote runs', { skip: needsBrowser }, async (t) => {
  const space = workspace(t, { config })
  const gateway = await serve(t, space)
  const evil = `</textarea><script>document.title="taken"</script><img src=x onerror="document.title=1">`
  const { id, run, url } = await asked(space, evil)
  const page = await openBrowser(t)
  await page.open(url!)
  assert.equal(await page.evaluate(`document.querySelector('form')`), null, 'without the token there is no form')
  const [link] = /\S+\/approvals\?token=\S+/.exec(gateway.stderr())!
  await page.open(link)
  assert.equal(await page.evaluate('location.href + document.cookie'), `${gateway.url}/approvals`)
  await page.open(url!)
  const seen = await page.evaluate(`[document.title, document.querySelectorAll('script, img').length].join()`)
  assert.equal(seen, 'Allow fx:add? · Métier,0')
  assert.ok(String(await page.evaluate(`document.querySelector('textarea').value`)).includes('<script>'))
  await page.loads(() => page.evaluate(`document.querySelector('button[value=approved]').click()`))
  assert.match(String(await page.evaluate('document.body.innerText')), /Recorded: approved/)
  assert.equal((await settled(space, run)).result, 1)
  assert.equal(made(space, evil), 1)
  assert.equal((await fetch(`${gateway.url}/approvals/${id}`)).status, 404)
})
