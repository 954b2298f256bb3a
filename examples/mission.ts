/**
 * A mission with three tasks, worked off by a program whose process is killed again and again: a
 * Python script reads one artifact and hands out another, and nothing is created twice. It checks
 * itself.
 *
 *   node scripts/services.ts up bubblewrap runsc neo4j minio     (once, outside the repository)
 *   node examples/mission.ts                  (killed whenever it has written six more events)
 *   node examples/mission.ts --every-event    (as soon as it has come one event further)
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

const program = `
const call = (name, given) => tool('metier:' + name, given)
const { missionID } = await call('create_mission', { name: args.name })
const add = async (taskName) =>
  (await call('create_task_node', { parentNodeID: missionID, taskName, description: taskName + ' the numbers' })).taskID
const [collect, add_up, report] = [await add('collect'), await add('add up'), await add('report')]
await call('add_relationship', { fromNodeID: add_up, toNodeID: collect, relationshipType: 'DEPENDS_ON' })
await call('add_relationship', { fromNodeID: report, toNodeID: add_up, relationshipType: 'DEPENDS_ON' })
const { nodeID: agentID } = await call('ensure_node', { kind: 'Agent', name: args.name })

const work = {
  collect: async (taskID) =>
    (await call('store_artifact', { ownerEntityID: taskID, artifactName: 'numbers.txt', contentType: 'text/plain', content: '40 2' })).storagePath,
  'add up': async (taskID, numbers) => {
    const scriptContent = 'open("/outputs/sum.txt", "w").write(str(sum(map(int, open("/inputs/n").read().split()))))'
    const config = { tier: args.tier, inputArtifacts: { [numbers]: '/inputs/n' }, outputs: ['/outputs/sum.txt'] }
    const { artifacts, isolation } = await call('execute_script_in_sandbox', { interpreter: 'python', scriptContent, config })
    tier = isolation.tier
    return artifacts[0].storagePath
  },
  report: async (taskID, sum) => (await call('retrieve_artifact', { storagePath: sum })).artifact.content,
}
let last, tier
for (;;) {
  const { task } = await call('claim_ready_task', { agentID, missionID })
  if (task === null) break
  last = await work[task.name](task.id, last)
  await call('update_task_status', { taskID: task.id, newStatus: 'DONE', expectedStatus: 'IN_PROGRESS' })
}
await call('update_mission_status', { missionID, newStatus: 'DONE' })
return { missionID, last, tier }`

/** gVisor is looked for below the home of the user. */
const env = { HOME: homedir() }

const step = process.argv.includes('--every-event') ? 1 : 6

/** Killed whenever it has come a step further, and resumed. */
async function throughKills(
  space: Workspace,
  args: object,
): Promise<{ result: Record<string, string>; kills: number }> {
  const verbs = await openSpace(space)
  const newest = () => (verbs.runs() as { run: string }[])[0]?.run
  const events = () => (newest() === undefined ? 0 : stepsIn(verbs.lines(newest()!)))
  let seen = 0
  const killWhen = () => events() >= seen + step
  const start = ['execute', 'add up the numbers', '--code', '-', '--args', JSON.stringify(args), '--json']
  let ran = await metier(space, start, { input: program, killWhen, env })
  let kills = 0
  for (; ran.killed; kills++) {
    seen = events()
    ran = await metier(space, ['run', 'resume', newest()!, '--json'], { killWhen, env })
  }
  await verbs.close()
  assert.equal(ran.json?.status, 'done', ran.stdout + ran.stderr)
  return { result: ran.json.result, kills }
}

/** That it was resumed, and that it sends a call again, is no step further. */
function stepsIn(lines: string[]): number {
  const events = lines.map((line) => JSON.parse(line) as { type: string; body: { call?: string } })
  const steps = events.filter(({ type }) => type !== 'run.resumed').map(({ type, body }) => `${type} ${body.call}`)
  return new Set(steps).size
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
