/**
 * The commands of a login, driven from outside: what is shown, which ways lead back, and what is
 * left behind.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type Authorization, binary, metier, root, type Workspace, workspace } from '#test'

const { openAuthorization } = await import(pathToFileURL(join(root, 'test', 'servers', 'authorization.ts')).href)

async function protectedSpace(t: TestContext): Promise<{ server: Authorization; space: Workspace }> {
  const server: Authorization = await openAuthorization()
  t.after(() => server.close())
  const space = workspace(t, { config: { mcpServers: { web: { type: 'http', url: server.url } } } })
  return { server, space }
}

/**
 * Runs `servers login`, and answers with where it sends the person; `end` is its exit code and all
 * it said.
 */
async function beginLogin({ folder, home, file }: Workspace) {
  const env = { PATH: process.env.PATH!, HOME: folder, METIER_HOME: home, METIER_CONFIG: file, NO_COLOR: '1' }
  const child = spawn(binary, ['servers', 'login', 'web', '--print'], { cwd: folder, env, stdio: 'pipe' })
  let said = ''
  const end = new Promise<{ code: number | null; said: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, said })),
  )
  const url = await new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      said += chunk
      const address = /^ {2}(http\S+)$/m.exec(said)?.[1]
      if (address !== undefined && said.includes('press Enter')) resolve(address)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.once('close', () => reject(new Error(`it ended: ${said}`)))
  })
  return { url, end, stdin: child.stdin }
}

test('servers login goes through a browser and back, and everybody else says beforehand that it is needed', async (t) => {
  const { server, space } = await protectedSpace(t)
  const before = await metier(space, ['servers'])
  assert.equal(before.code, 4)
  assert.match(before.stdout, /✗ web.*metier servers login web/)
  const { checks } = (await metier(space, ['doctor', '--json'])).json
  const { ok, fix } = checks.find(({ name }: { name: string }) => name === 'server web')
  assert.deepEqual([ok, fix], [false, 'metier servers login web --scope "tools"'])
  const failed = await metier(space, ['call', 'web:echo', '{"word":"hi"}', '--json'])
  assert.deepEqual([failed.code, failed.json.error.code], [4, 'LOGIN_REQUIRED'])

  const { url, end } = await beginLogin(space)
  const back = new URL(url).searchParams.get('redirect_uri')!
  assert.equal((await fetch(`${back}?code=forged&state=forged`)).status, 400, 'a foreign answer is not taken')
  assert.match(await (await fetch(url)).text(), /You may close this window/)
  const { code, said } = await end
  assert.equal(code, 0, said)
  assert.match(said, /✓ Logged in to web/)

  const called = await metier(space, ['call', 'web:headers', '--json'])
  assert.equal(called.code, 0, called.stdout)
  const secrets = [...server.access.keys(), ...server.refresh.keys(), ...server.codes.keys()]
  const files = readdirSync(space.home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name), 'latin1')
    for (const secret of secrets) assert(!bytes.includes(secret), `${name} holds a token`)
  }
  assert.match((await metier(space, ['servers', 'logout', 'web'])).stdout, /is forgotten, and its tokens are revoked/)
  assert.equal(server.seen.revocations.length, 2)
  assert.equal((await metier(space, ['servers'])).code, 4)
})

test('servers login takes the address that a browser elsewhere ended up at', async (t) => {
  const { space } = await protectedSpace(t)
  const { url, end, stdin } = await beginLogin(space)
  const { headers } = await fetch(url, { redirect: 'manual' })
  stdin.write(`${headers.get('location')}\n`)
  const { code, said } = await end
  assert.equal(code, 0, said)
})

test('servers login refuses what takes no login', async (t) => {
  const space = workspace(t)
  for (const name of ['fx', 'nobody']) {
    const { code, stderr } = await metier(space, ['servers', 'login', name])
    assert.equal(code, 3)
    assert.match(stderr, /Cannot log in to/)
  }
})
