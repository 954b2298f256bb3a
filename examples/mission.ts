/**
 * A mission with three tasks, worked off by a program that a host asks for at the door, while the
 * gateway is killed again and again: a Python script reads one artifact and hands out another, and
 * nothing is created twice. It checks itself.
 *
 *   node scripts/services.ts up bubblewrap runsc neo4j minio     (once, outside the repository)
 *   node examples/mission.ts                  (killed whenever it has written ten more events)
 *   node examples/mission.ts --every-event    (and a run for each event, killed at it)
 *
 * On the drivers of the home, and where the servers of the tests run on Neo4j and S3.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { newId } from '#model'
import { metier, openSpace, type Printed, type Scope, type Served, serve, type Workspace, whyNot } from '#test'
import { minioBucket, neo4jAddress, whyNoMinio, whyNoNeo4j } from '#test/services'
import { killedAtEveryEvent } from './mission/every-event.ts'
import { missionProgram } from './mission/program.ts'

/** gVisor is looked for below the home of the user. */
const env = { HOME: homedir() }

const eventsPerKill = 10

/** Asked for at the door, under a key that never runs twice; null where the gateway was killed. */
async function ask({ url, child }: Served, key: string, args: object): Promise<Printed | null> {
  const gone = new AbortController()
  child.once('exit', () => gone.abort())
  const client = new Client({ name: 'mission', version: '1' })
  const implementation = { type: 'code', code: missionProgram }
  const given = { intent: 'add up the numbers', implementation, args, key, wait: 60 }
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
    const request = { name: 'execute', arguments: given }
    return (await client.callTool(request, { signal: gone.signal, timeout: 120_000 })).structuredContent
  } catch (error) {
    if (child.killed) return null
    throw error
  } finally {
    await client.close().catch(() => {})
  }
}

/** The gateway is killed whenever the run has come some events further, and asked again. */
async function throughKills(
  scope: Scope,
  space: Workspace,
  args: object,
): Promise<{ result: Record<string, string>; kills: number }> {
  const verbs = await openSpace(space)
  const events = () => verbs.runs({ limit: 1 }).reduce((sum, { run }) => sum + verbs.lines(String(run)).length, 0)
  const key = newId()
  for (let kills = 0; ; kills++) {
    // Before it starts: the next gateway goes on with the run at once.
    const seen = events()
    const gateway = await serve(scope, space, [], { env })
    const watch = setInterval(() => events() >= seen + eventsPerKill && gateway.child.kill('SIGKILL'), 2)
    const answer = await ask(gateway, key, args)
    clearInterval(watch)
    await gateway.stop()
    if (answer !== null && answer.status !== 'running') {
      assert.equal(answer.status, 'done', JSON.stringify(answer))
      await verbs.close()
      return { result: answer.result, kills }
    }
  }
}

async function tour(name: string, config: { taskGraph?: object; artifacts?: object }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'metier-example-'))
  const space = { folder, file: join(folder, 'metier.json'), home: join(folder, '.metier'), witness: '', opened: [] }
  mkdirSync(space.home)
  writeFileSync(space.file, JSON.stringify(config))
  const cleanups: (() => unknown)[] = []
  const scope = { after: (cleanup: () => unknown) => void cleanups.push(cleanup) } as Scope
  try {
    const tier = whyNot('gvisor') === false ? 'gvisor' : 'os'
    const { result, kills } = await throughKills(scope, space, { name: `numbers ${folder}`, tier })
    assert.deepEqual([result.last, result.tier], ['42', tier])
    assert.ok(kills >= 3, `${kills} kills`)
    const box = tier === 'gvisor' ? 'in gVisor' : 'in bubblewrap, since gVisor is not there'
    console.log(`1 ${name}: the sum is ${result.last}, from a script ${box}, over ${kills} kills of the gateway.`)

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
    for (const cleanup of cleanups) await cleanup()
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
