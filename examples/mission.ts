/**
 * A mission with three tasks, worked off by a program whose process is killed again and again: a
 * Python script reads one artifact and hands out another, and nothing is created twice. It checks
 * itself.
 *
 *   node scripts/services.ts up bubblewrap runsc     (once, outside the repository)
 *   node examples/mission.ts
 *
 * Where a Neo4j of the tests runs, it is done there too.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { metier, openSpace, type Workspace } from '#test'
import { neo4jAddress, whyNoNeo4j } from '#test/services'

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
    const { artifacts } = await call('execute_script_in_sandbox', { interpreter: 'python', scriptContent, config })
    return artifacts[0].storagePath
  },
  report: async (taskID, sum) => (await call('retrieve_artifact', { storagePath: sum })).artifact.content,
}
let last
for (;;) {
  const { task } = await call('claim_ready_task', { agentID, missionID })
  if (task === null) break
  last = await work[task.name](task.id, last)
  await call('update_task_status', { taskID: task.id, newStatus: 'DONE', expectedStatus: 'IN_PROGRESS' })
}
await call('update_mission_status', { missionID, newStatus: 'DONE' })
return { missionID, last }`

/** Killed whenever it has written six more events, and resumed. */
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
  let ran = await metier(space, start, { input: program, killWhen })
  let kills = 0
  for (; ran.killed; kills++) {
    seen = events()
    ran = await metier(space, ['run', 'resume', newest()!, '--json'], { killWhen })
  }
  await verbs.close()
  assert.equal(ran.json?.status, 'done', ran.stdout + ran.stderr)
  return { result: ran.json.result, kills }
}

async function tour(name: string, taskGraph: unknown): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'metier-example-'))
  const space = { folder, file: join(folder, 'metier.json'), home: join(folder, '.metier'), witness: '', opened: [] }
  mkdirSync(space.home)
  writeFileSync(space.file, JSON.stringify({ taskGraph }))
  try {
    const { tiers } = (await metier(space, ['sandbox', 'test', '--json'])).json as {
      tiers: { tier: string; ok: boolean }[]
    }
    const tier = tiers.find((one) => one.tier === 'gvisor')?.ok ? 'gvisor' : 'os'
    const { result, kills } = await throughKills(space, { name: `numbers ${folder}`, tier })
    assert.equal(result.last, '42')
    assert.ok(kills >= 3, `${kills} kills`)
    console.log(`1 ${name}: the sum is ${result.last}, from a script at tier ${tier}, over ${kills} kills.`)

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
    rmSync(folder, { recursive: true, force: true })
  }
}

await tour('SQLite', 'sqlite')
const absent = whyNoNeo4j()
if (absent === false) await tour('Neo4j', neo4jAddress())
else console.log(`Neo4j: not tried (${absent}).`)
