/** What a command loads before it can answer: most of its time, where it only looks. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { caller, effects, metier, openSpace, type Workspace, workspace } from '#test'

/**
 * Writes the addresses of all modules that the main thread loaded into the file that LOADED names.
 */
const hook = `
import { registerHooks } from 'node:module'
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
const loaded = []
if (isMainThread) {
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  process.on('exit', () => writeFileSync(process.env.LOADED, loaded.join('\\n')))
}`

/** Each costs about 0.2 ms: with these a command takes less than three times `node -e 0`. */
const modulesMax = 185
/** Where a plan is read for what it may call. */
const modulesWithParserMax = 200

async function loadedBy(space: Workspace, words: string[]): Promise<string[]> {
  const file = join(space.folder, 'loaded')
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}`, LOADED: file }
  const { code, stderr } = await metier(space, words, { env })
  assert.equal(code, 0, stderr)
  const loaded = readFileSync(file, 'utf8').split('\n')
  assert.ok(
    loaded.some((url) => url.endsWith('/src/show/show.ts')),
    'the list is of this command',
  )
  return loaded
}

test('commands that only look load no sandbox, gateway, catalogue, verifier, MCP package or schema library', async (t) => {
  const space = workspace(t, { config: { policy: { rules: [{ tool: 'fx:add', then: 'ask' }] } } })
  const verbs = await openSpace(space)
  const run = async (code: string) =>
    String((await verbs.execute({ implementation: { type: 'code', code } }, caller)).run)
  const done = await run(`return await mcp.fx.read({ key: 'a' })`)
  const asking = await run(`return await mcp.fx.add({ key: 'a', by: 1 })`)
  assert.equal(verbs.approvals().length, 1)
  await verbs.close()
  const commands = [
    ['version'],
    ['help'],
    ['runs'],
    ['run', 'show', done],
    ['run', 'show', asking, '--json'],
    ['result', done],
    ['approvals'],
    ['approvals', '--json'],
    ['policy'],
    ['audit', 'show', '@last'],
    ['audit', 'verify'],
  ]
  for (const words of commands) {
    const loaded = await loadedBy(space, words)
    const isVerifying = words[1] === 'verify'
    const heavy = loaded.filter(
      (url) =>
        /\/src\/(sandbox|gateway|catalog)\/|\/@modelcontextprotocol\/|\/zod\//.test(url) ||
        (!isVerifying && url.includes('/src/record/verify/')),
    )
    assert.deepEqual(heavy, [], words.join(' '))
    const isReading = words.includes(asking) || words.join(' ') === 'approvals --json'
    const most = isReading ? modulesWithParserMax : modulesMax
    assert.ok(loaded.length < most, `${words.join(' ')} loads ${loaded.length} modules`)
    assert.equal(
      loaded.some((url) => /acorn|node:(crypto|worker_threads|assert|util)/.test(url)),
      isReading,
      words.join(' '),
    )
  }
  const moving = await loadedBy(space, ['tools'])
  assert.ok(
    moving.some((url) => url.includes('/src/catalog/')),
    'what a command needs is loaded, and seen here',
  )
})

test('the launcher finds the files that Node would find, each under one address', async (t) => {
  const loaded = await loadedBy(workspace(t), ['tools'])
  const ours = loaded.filter((url) => url.includes('/src/'))
  assert.ok(ours.length > 200, `${ours.length} files`)
  for (const url of ours) assert.equal(pathToFileURL(realpathSync(fileURLToPath(url))).href, url)
  assert.equal(new Set(ours).size, ours.length)
})

/** Processes with this word on their command line. */
function running(word: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(word) ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

test('a command that only looks ends the servers that a killed process left behind', async (t) => {
  const space = workspace(t, { env: { STUBBORN: '1' } })
  /** The guard would end them: it dies first. */
  const killGuard = () => {
    if (effects(space).length === 0) return false
    const [lock] = readdirSync(join(space.home, 'processes')).filter((name) => name.endsWith('.db'))
    for (const pid of running(lock!.slice(0, -'.db'.length))) process.kill(pid, 'SIGKILL')
    return true
  }
  const input = `return await mcp.fx.add({ key: 'a', by: 1, ms: 60_000 })`
  const killed = await metier(space, ['execute', 'adds', '--code', '-'], { input, killWhen: killGuard })
  assert.equal(killed.killed, true, killed.stderr)
  const { pid } = effects(space)[0]!
  const isThere = () => running('effects.ts').includes(pid)
  t.after(() => isThere() && process.kill(pid, 'SIGKILL'))
  assert.equal(isThere(), true, 'nobody was there to end it')
  assert.match((await metier(space, ['runs'])).stdout, /interrupted/)
  assert.equal(isThere(), false)
})
