/** Files of a workspace: what a model may write, and that no link leads out of it. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { limits, sha256 } from '#model'
import { temporaryFolder } from '#test'
import { readPlain, replacePlain, stepFolder, writePlain } from './workspace-files.ts'
import { hiddenIn } from './workspace-masks.ts'
import { isHidden, partsOf } from './workspace-path.ts'

const write = (root: string, path: string, text: string) => writePlain(root, partsOf(path, ['home']), Buffer.from(text))

test('a file is written once; other bytes in its place are kept as NAME~N', async (t) => {
  const root = temporaryFolder(t)
  assert.equal((await write(root, 'a/b.txt', 'one')).kept, undefined)
  assert.equal((await write(root, 'a/b.txt', 'one')).kept, undefined)
  assert.deepEqual((await write(root, 'a/b.txt', 'two')).kept, { path: 'a/b.txt~1', sha256: sha256('one'), bytes: 3 })
  assert.equal((await write(root, 'a/b.txt', 'three')).kept?.path, 'a/b.txt~2')
  assert.deepEqual(
    ['b.txt', 'b.txt~1', 'b.txt~2'].map((name) => readFileSync(join(root, 'a', name), 'utf8')),
    ['three', 'one', 'two'],
  )
})

test('what scripts must reach is readable for them whatever our mask is; books are as private as it says', async (t) => {
  const root = temporaryFolder(t)
  const mask = process.umask(0o077)
  t.after(() => process.umask(mask))
  await write(root, 'workbench/scripts/a.py', 'x')
  await replacePlain(root, ['ledger', 'x'], Buffer.from('x'))
  const modes = ['workbench', 'workbench/scripts', 'workbench/scripts/a.py', 'ledger', 'ledger/x'].map((path) =>
    (statSync(join(root, path)).mode & 0o777).toString(8),
  )
  assert.deepEqual(modes, ['755', '755', '644', '700', '600'])
})

test('for root, whose scripts run as another user, a folder that only its owner may enter is refused with what helps', async (t) => {
  const root = realpathSync(temporaryFolder(t))
  const looked = hiddenIn(root, [])
  if (process.getuid?.() !== 0) await looked
  else await assert.rejects(looked, { code: 'SANDBOX_SETUP_FAILED', message: /chmod o\+rx/ })
})

/** A folder that the user of a box may enter. */
function openFolder(t: TestContext): string {
  const root = realpathSync(temporaryFolder(t))
  chmodSync(root, 0o755)
  return root
}

test('no link is followed, on the way or at the end of it', async (t) => {
  const [root, outside] = [temporaryFolder(t), temporaryFolder(t)]
  symlinkSync(outside, join(root, 'way'))
  symlinkSync(join(outside, 'file'), join(root, 'end'))
  await assert.rejects(write(root, 'way/file', 'x'), { code: 'PERMISSION_DENIED' })
  await assert.rejects(write(root, 'end', 'x'), { code: 'PERMISSION_DENIED' })
  await assert.rejects(readPlain(root, 'way/file', 10), { code: 'PERMISSION_DENIED' })
  assert.equal(existsSync(join(outside, 'file')), false)
  mkdirSync(join(root, 'folder'))
  await assert.rejects(write(root, 'folder', 'x'), { code: 'PERMISSION_DENIED' })
})

test('paths that lead elsewhere, or to what is not for a model, are refused', () => {
  const refused = ['../a', '/etc/passwd', 'a/../b', 'a//b', './a', 'a\0b', 'a\\b', 'C:\\a', 'a/', 'x'.repeat(2000)]
  const guarded = [
    '.git/hooks/pre-commit',
    'sub/.GIT/config',
    'ledger/a',
    'LEDGER/a',
    'Manifests/x',
    'sessions/a',
    'artifacts/a',
  ]
  const ours = [
    'metier.json',
    '.mcp.json',
    '.claude/settings.json',
    'home/record.db',
    'HOME/x',
    '.git',
    '.ｇｉｔ/config',
    '.g\u200cit/config',
    'node_modules/a',
    'a. ',
  ]
  for (const path of [...refused, ...guarded, ...ours])
    assert.throws(() => partsOf(path, ['home']), { code: 'PERMISSION_DENIED' }, path)
  assert.deepEqual(partsOf('docs/.gitignore', []), ['docs', '.gitignore'])
})

test('secrets, histories and our own books are hidden from scripts', () => {
  const hidden = [
    '.env',
    'sub/.env.local',
    '.git',
    'sub/.git',
    'metier.json',
    'ledger',
    'sessions',
    'manifests',
    'home',
  ]
  for (const path of hidden) assert.ok(isHidden(path, ['home']), path)
  for (const path of ['artifacts', 'src', 'sub/ledger', '.gitignore']) assert.ok(!isHidden(path, ['home']), path)
})

test('a step gets a folder of its own; one that a crash left with its script is taken again', async (t) => {
  const root = temporaryFolder(t)
  const wanted = 'artifacts/step_20261118_120000_tool_request'
  const script = Buffer.from('print(1)\n')
  assert.equal(await stepFolder(root, wanted, script), wanted)
  await writePlain(root, [...wanted.split('/'), 'tool_script.py'], script)
  assert.equal(await stepFolder(root, wanted, script), wanted)
  assert.equal(await stepFolder(root, wanted, Buffer.from('print(2)\n')), `${wanted}_2`)
  writeFileSync(join(root, wanted, 'tool_output.txt'), '')
  assert.equal(await stepFolder(root, wanted, script), `${wanted}_2`)
})

test('a link with a hidden name is masked where it leads to, once, and never outside of the workspace', async (t) => {
  const [root, outside] = [openFolder(t), temporaryFolder(t)]
  for (const name of ['secrets', 'real/objects', 'sub']) mkdirSync(join(root, name), { recursive: true })
  for (const name of ['secrets/prod', 'real/config', 'seen.txt']) writeFileSync(join(root, name), 'x')
  const links = { '.env': 'secrets/prod', '.env.copy': '.env', 'sub/.git': '../real', 'sub/.env': '../real/config' }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, name))
  symlinkSync(outside, join(root, '.vscode'))
  symlinkSync('.', join(root, '.cursor'))
  symlinkSync('nowhere', join(root, '.zed'))
  symlinkSync('seen.txt', join(root, 'other'))
  const { folders, files } = await hiddenIn(root, [])
  assert.deepEqual([folders.toSorted(), files], [['ledger', 'manifests', 'real', 'sessions'], ['secrets/prod']])
})

test('more than can be masked or looked at is refused', async (t) => {
  const root = openFolder(t)
  for (let n = 0; n < limits.workspaceHiddenMax - 2; n++) writeFileSync(join(root, `.env.${n}`), '')
  await assert.rejects(hiddenIn(root, []), { code: 'SANDBOX_SETUP_FAILED', context: { hiddenMax: 500 } })
})

test('a folder that is swapped for a link while files are written never leads out', async (t) => {
  const [root, outside] = [temporaryFolder(t), temporaryFolder(t)]
  mkdirSync(join(root, 'real'))
  symlinkSync(outside, join(root, 'link'))
  let isOver = false
  const swapping = (async () => {
    for (let n = 0; !isOver; n++) {
      try {
        rmSync(join(root, 'way'), { recursive: true, force: true })
        if (n % 2 === 0) symlinkSync(outside, join(root, 'way'))
        else mkdirSync(join(root, 'way'))
      } catch {
        // The writer was there first: it is swapped in the next round.
      }
      await pause(n % 4)
    }
  })()
  const outcomes = new Set<string>()
  for (let n = 0; n < 300; n++) {
    const done = write(root, `way/deep/${n}.txt`, 'x').then(
      () => 'written',
      (error: NodeJS.ErrnoException) => String(error.code),
    )
    outcomes.add(await done)
  }
  isOver = true
  await swapping
  assert.deepEqual(readdirSync(outside), [])
  // How many of them get through is a matter of luck; nothing else may come of one.
  outcomes.delete('written')
  assert.deepEqual([...outcomes], ['PERMISSION_DENIED'])
})
