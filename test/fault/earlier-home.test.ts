/**
 * A home that an earlier version wrote (commit c655d07, with questions that do not expire) resumes,
 * replays and verifies with this one: a waiting approval, an uncertain call, a timer, a graph with
 * a program, logs over 64 KB, and what was finished.
 */
import assert from 'node:assert/strict'
import { chmodSync, cpSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metier, root, temporaryFolder, type Workspace } from '#test'

const fixture = join(root, 'test/fixtures/home-c655d07')

test('a home of an earlier version goes on from where each of its runs stood, and all of it verifies', async (t) => {
  const folder = temporaryFolder(t)
  cpSync(fixture, folder, { recursive: true })
  for (const key of globSync('home/keys/*', { cwd: folder })) chmodSync(join(folder, key), 0o600)
  const witness = join(folder, 'effects.jsonl')
  const space: Workspace = {
    folder,
    witness,
    file: join(folder, 'metier.json'),
    home: join(folder, 'home'),
    opened: [],
  }
  const env = { FIXTURE_SERVER: join(folder, 'server.mjs'), FIXTURE_EFFECTS: witness, FIXTURE_LAG: '00000000' }
  const json = async (...args: string[]) => {
    const ran = await metier(space, [...args, '--json'], { env })
    assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
    return ran.json
  }

  assert.deepEqual(await json('audit', 'verify'), { ok: true, events: 84 })
  const runs = (await json('runs')) as { run: string; intent: string; status: string }[]
  assert.deepEqual(
    runs.map(({ intent, status }) => `${intent}: ${status}`),
    [
      'an uncertain booking: uncertain',
      'a timer: interrupted',
      'logs over 64 KB: approval_required',
      'graph with a program: approval_required',
      'waiting approval beside a read: approval_required',
      'add once, approved for good: done',
      'fail: failed',
      'list many things: done',
    ],
  )
  const run = (intent: string) => runs.find((each) => each.intent === intent)!.run
  const questions = (await json('approvals')) as { id: string; run: string }[]
  const approve = (intent: string) => json('approve', questions.find((each) => each.run === run(intent))!.id)

  const waited = await approve('waiting approval beside a read')
  assert.deepEqual(waited.result, {
    value: 3,
    added: { did: 'add', key: 'waiting', by: 2 },
    at: 'number',
    chance: 'number',
  })
  assert.deepEqual((await approve('graph with a program')).result, { did: 'add', key: 'dag', by: 12 })
  const logged = await approve('logs over 64 KB')
  assert.deepEqual(logged.result, { did: 'add', key: 'logs', by: 3 })
  assert.equal((await json('run', 'show', logged.run)).logs.length, 9)
  assert.deepEqual((await json('run', 'resume', run('a timer'))).result, { before: 1, after: 5 })
  const booked = await json('run', 'settle', run('an uncertain booking'), '--call', '1', '--done', '{"did":"book"}')
  assert.deepEqual(booked.result, { did: 'book' })
  assert.equal((await json('result', run('list many things'), '--path', '/8999')).text, 'item number 8999')

  for (const each of runs) assert.equal((await json('run', 'replay', each.run)).ok, true, each.intent)
  const effects = readFileSync(witness, 'utf8').trim().split('\n')
  assert.deepEqual(
    effects.map((line) => JSON.parse(line).args.key),
    ['waiting', 'dag', 'logs'],
    'nothing that had been done is done again',
  )
  assert.equal((await json('audit', 'verify')).ok, true)
})
