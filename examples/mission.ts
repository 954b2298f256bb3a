/**
 * A mission with three tasks, worked off by a program whose process is killed again and again: a
 * Python script reads one artifact and hands out another, and nothing is created twice. It checks
 * itself.
 *
 *   node scripts/services.ts up bubblewrap runsc neo4j minio     (once, outside the repository)
 *   node examples/mission.ts                  (killed whenever it has written six more events)
 *   node examples/mission.ts --every-event    (and a run for each event, killed at it)
 *
 * On the drivers of the home, and where the servers of the tests run on Neo4j and S3.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '#model'
import { metier, openSpace, type Workspace, whyNot } from '#test'
import { minioBucket, neo4jAddress, whyNoMinio, whyNoNeo4j } from '#test/services'
import { killedAtEveryEvent } from './mission/every-event.ts'
import { missionProgram } from './mission/program.ts'

/** gVisor is looked for below the home of the user. */
const env = { HOME: homedir() }

/** Killed whenever it has come some events further, and resumed. */
async function throughKills(
  space: Workspace,
  args: object,
): Promise<{ result: Record<string, string>; kills: number }> {
  const verbs = await openSpace(space)
  const newest = () => (verbs.runs() as { run: string }[])[0]?.run
  const events = () => (newest() === undefined ? 0 : verbs.lines(newest()!).length)
  let seen = 0
  const killWhen = () => events() >= seen + 6
  const start = ['execute', 'add up the numbers', '--code', '-', '--args', JSON.stringify(args), '--json']
  let ran = await metier(space, start, { input: missionProgram, killWhen, env })
  let kills = 0
  for (; ran.killed; kills++) {
    seen = events()
    ran = await metier(space, ['run', 'resume', newest()!, '--json'], { killWhen, env })
  }
  await verbs.close()
  assert.equal(ran.json?.status, 'done', ran.stdout + ran.stderr)
  return { result: ran.json.result, kills }
}

async function tour(name: string, config: { taskGraph?: object; artifacts?: object }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'metier-example-'))
  const space = { folder, file: join(folder, 'metier.json'), home: join(folder, '.metier'), witness: '', opened: [] }
  mkdirSync(space.home)
  writeFileSync(space.file, JSON.stringify(config))
  try {
    const tier = whyNot('gvisor') === false ? 'gvisor' : 'os'
    const { result, kills } = await throughKills(space, { name: `numbers ${folder}`, tier })
    assert.deepEqual([result.last, result.tier], ['42', tier])
    assert.ok(kills >= 3, `${kills} kills`)
    const box = tier === 'gvisor' ? 'in gVisor' : 'in bubblewrap, since gVisor is not there'
    console.log(`1 ${name}: the sum is ${result.last}, from a script ${box}, over ${kills} kills.`)

    const { mission, tasks } = (await metier(space, ['missions', 'show', result.missionID!, '--json'])).json
    assert.deepEqual([mission.status, mission.tasks], ['DONE', { DONE: 3 }])
    const made = (tasks as { producedArtifactIDs?: string[] }[]).flatMap((task) => task.producedArtifactIDs ?? [])
    assert.equal(made.length, 1)
    const stored = (await metier(space, ['artifacts', '--json'])).json as unknown[]
    assert.equal(stored.length, 2)
    console.log('2 One mission, three tasks, two artifacts: nothing was created twice.')

    console.log((await metier(space, ['missions', 'show', result.missionID!])).stdout.trim())
    const { ok, events } = (await metier(space, ['audit', 'verify', '--json'])).json
    assert.equal(ok, true)
    console.log(`3 ${events} events verify.`)

    if (!process.argv.includes('--every-event')) return
    const { boundaries, runs } = await killedAtEveryEvent(space, tier)
    console.log(
      `4 Killed before and after each of ${boundaries} events: ${runs} runs, ${runs} missions, nothing twice.`,
    )
  } finally {
    // The next process that opens boxes clears away those of killed ones, with what gVisor mounted.
    await metier(space, ['sandbox', 'test', '--json'], { env })
    rmSync(folder, { recursive: true, force: true })
  }
}

await tour('SQLite and a folder', {})
const absent = whyNoNeo4j() || whyNoMinio()
if (absent === false) await tour('Neo4j and S3', { taskGraph: neo4jAddress(), artifacts: await bucket() })
else console.log(`Neo4j and S3: not tried (${absent}).`)

/** Below a prefix of its own, since the bucket is shared. */
async function bucket(): Promise<object> {
  const { endpoint, bucket, credentials } = await minioBucket('examples')
  return { url: `s3://${bucket}/${newId()}`, endpoint, ...credentials }
}
