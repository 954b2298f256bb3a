/**
 * Tests of how the box of a server is put together; test/contract/server-box.test.ts attacks it
 * from within.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { temporaryFolder } from '#test'
import { openServerBox } from './server-box.ts'
import { packageOf, registryOf } from './server-install.ts'

const server = { server: 'x', command: 'node', args: [], env: { PATH: '/usr/bin' }, cwd: '/', hidden: [] }
const sandbox = { tier: 'os' as const, folders: [], write: [], hosts: [] }

test('openServerBox() refuses where bubblewrap is missing, with the command that adds it', async (t) => {
  const options = { ...server, sandbox, folder: temporaryFolder(t), signal: new AbortController().signal }
  await assert.rejects(openServerBox({ ...options, bwrap: null }), {
    code: 'SANDBOX_SETUP_FAILED',
    message: /Cannot start the server "x".*It is not started without one\. Run: .*bubblewrap/,
  })
})

test("openServerBox() refuses to show the root, or the kernel's own files", async (t) => {
  const options = {
    ...server,
    folder: temporaryFolder(t),
    signal: new AbortController().signal,
    bwrap: '/usr/bin/bwrap',
  }
  for (const folder of ['/', '/proc', '/proc/1', '/sys/kernel', '/dev', '/usr/..'])
    await assert.rejects(
      openServerBox({ ...options, sandbox: { ...sandbox, folders: [folder] } }),
      /kernel's own files/,
      folder,
    )
})

test('packageOf() reads the package that npx is to run, and none where only npx could tell', () => {
  const cases: [string[], string | null][] = [
    [['-y', '@scope/server@1.2.3', '/folder'], '@scope/server@1.2.3'],
    [['--yes', '--package', 'a@1', 'a'], 'a@1'],
    [['--package=a@1', '-c', 'a'], 'a@1'],
    [['--registry', 'https://example.org', 'a'], null],
    [[], null],
  ]
  for (const [args, wanted] of cases) assert.equal(packageOf('/usr/bin/npx', args), wanted, args.join(' '))
  assert.equal(packageOf('node', ['-y', 'a']), null)
})

test('registryOf() is what the environment says, else the public one', () => {
  assert.equal(registryOf({ npm_config_registry: 'https://npm.example.org/' }), 'https://npm.example.org/')
  assert.equal(registryOf({ HOME: '/nowhere' }), 'https://registry.npmjs.org/')
})
