/**
 * Every command of the README, as a newcomer types them: in a project of their own, with a home of
 * their own.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { root, temporaryFolder } from '#test'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const blocks = (language: string) =>
  [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].filter(([, of]) => of === language)
const lines = blocks('sh').flatMap(([, , text]) => text!.trim().split('\n'))

test('the README has commands in blocks of their own, and each is one that this test runs', () => {
  assert(lines.length >= 12, String(lines.length))
  for (const line of lines) assert.match(line, /^(git clone … metier && cd metier|npm (start|install) .*|metier .*)$/)
})

/**
 * How this machine reaches its registry is not the README's matter; a server gets only HOME and
 * PATH.
 */
function npmSettings(): string {
  const get = (name: string) => spawnSync('npm', ['config', 'get', name], { encoding: 'utf8' }).stdout.trim()
  const [file, cache, certificates] = [get('userconfig'), get('cache'), process.env.NODE_EXTRA_CA_CERTS]
  const given = existsSync(file) ? readFileSync(file, 'utf8').trimEnd() : ''
  return [given, `cache=${cache}`, ...(certificates ? [`cafile=${certificates}`] : []), ''].join('\n')
}

test('every command of the README works as it stands, in its order', async (t) => {
  const base = temporaryFolder(t)
  const project = join(base, 'my project')
  mkdirSync(project)
  writeFileSync(join(project, 'count.ts'), blocks('ts')[0]![2]!)
  writeFileSync(join(project, 'notes.txt'), 'the loom and the thread\n')
  const PATH = [join(base, 'bin'), process.env.PATH].join(delimiter)
  const env = {
    ...process.env,
    PATH,
    HOME: base,
    npm_config_prefix: base,
    XDG_DATA_HOME: join(base, 'data'),
    NO_COLOR: '1',
  }
  writeFileSync(join(base, '.npmrc'), npmSettings())
  for (const line of lines.slice(1)) {
    const cwd = line.startsWith('npm') ? root : project
    const ran = spawnSync('sh', ['-c', line], {
      cwd,
      env: env,
      encoding: 'utf8',
      timeout: 300_000,
    })
    assert.equal(ran.status, 0, `${line}\n${ran.stdout}${ran.stderr}`)
    if (line.includes('demo')) rmSync(/cd (\S+)/.exec(ran.stdout)![1]!, { recursive: true })
    if (line.includes('count words')) assert.deepEqual(JSON.parse(ran.stdout), { words: 5, longest: 'thread' })
    if (line.includes('discover')) assert.match(ran.stdout, /fs:read_text_file/)
  }
})
