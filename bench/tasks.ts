/**
 * What the task graph costs: the same work in SQLite and in Neo4j, side by side in one run over
 * 10,000 tasks and 20,000 dependencies; and a look at one task by the built-in tool against the
 * same statement behind a server over stdio.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import neo4j from 'neo4j-driver-lite'
import { openCatalog } from '#catalog'
import { newId, parseConfig, uuidOf } from '#model'
import {
  type Caller,
  claimReadyTask,
  dependenciesCompleted,
  ensureNode,
  type GraphAddress,
  type GraphStore,
  getTask,
  openGraphStore,
  openTaskGraph,
  type TaskGraph,
} from '#tasks'
import { ownNeo4j, whyNoNeo4j } from '#test/services'
import { atMost, type Bar, median, ms, preferUs, print, time } from './record/bars.ts'

const tasks = 10_000
const rounds = 40
const hops = 5

async function main(): Promise<void> {
  preferUs()
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  const file = join(folder, 'tasks.db')
  const bars: Bar[] = []
  const why = whyNoNeo4j()
  const server = why === false ? ownNeo4j(folder, { isMeasured: true }) : null
  try {
    await server?.start()
    const embedded = await fill({ file })
    if (server === null) console.error(`not measured against Neo4j: ${why}`)
    else bars.push(...(await againstNeo4j(embedded, await fill(server.address()), file)))
    bars.push(await againstStdio(embedded, folder, file))
    await embedded.store.close()
  } finally {
    await server?.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  print(bars)
  if (bars.some(({ ok }) => !ok)) process.exitCode = 1
}

type Filled = {
  address: GraphAddress
  store: GraphStore
  graph: TaskGraph
  missionID: string
  ids: string[]
  agentID: string
}

let calls = 0
const run = newId()
const next = (): Caller => ({ run, call: String(++calls), signal: AbortSignal.timeout(600_000) })

type Writer = Parameters<Parameters<GraphStore['write']>[0]>[0]
type Nodes = Parameters<Writer['mergeNodes']>[0]
type Links = Parameters<Writer['mergeLinks']>[0]

/** Each task depends on two or three of those 100 to 199 before it; the first tenth is done. */
async function fill(address: GraphAddress): Promise<Filled> {
  const store = await openGraphStore(address)
  const graph = openTaskGraph(store)
  const [missionID, at] = [newId(), new Date().toISOString()]
  const times = { createdAt: at, updatedAt: at }
  const ids = Array.from({ length: tasks }, (_, n) => uuidOf(`${missionID}/${n}`))
  const mission = { id: missionID, kind: 'Mission' as const, name: 'bench', status: 'ACTIVE', ...times, properties: {} }
  const nodes: Nodes = ids.map((id, n) => {
    const properties = { description: `the work of task ${n}` }
    const status = n < tasks / 10 ? 'DONE' : 'QUEUED'
    return { id, kind: 'Task', name: `task ${n}`, status, missionID, ...times, properties }
  })
  const links = ids.flatMap((from, n): Links => {
    const many = n < 200 ? 0 : n < 600 ? 3 : 2
    const before = Array.from({ length: many }, (_, i) => ids[n - 100 - ((n * 7 + i * 31) % 100)]!)
    return before.map((to) => ({ from, type: 'DEPENDS_ON', to, at }))
  })
  await inParts([mission, ...nodes], (writer, part) => writer.mergeNodes(part), store)
  await inParts(links, (writer, part) => writer.mergeLinks(part), store)
  const { nodeID: agentID } = await ensureNode(graph, { kind: 'Agent', name: 'bench' }, next())
  return { address, store, graph, missionID, ids, agentID }
}

async function inParts<One>(
  all: readonly One[],
  write: (writer: Writer, part: One[]) => Promise<void>,
  store: GraphStore,
): Promise<void> {
  for (let from = 0; from < all.length; from += 250) {
    const part = () => store.write((writer) => write(writer, all.slice(from, from + 250)), next().signal)
    await part().catch(part) // a server that has just started may need longer than a transaction may
  }
}

type Work = (filled: Filled, round: number) => Promise<unknown>

const idOf = ({ ids }: Filled, round: number) => ids[2000 + ((round * 1777) % 7000)]!

const works: Record<string, Work> = {
  'details of a task': (filled, round) => getTask(filled.graph, { taskID: idOf(filled, round) }, next()),
  'dependencies completed': (filled, round) =>
    dependenciesCompleted(filled.graph, { taskID: idOf(filled, round) }, next()),
  claim: ({ graph, agentID, missionID }) => claimReadyTask(graph, { agentID, missionID }, next()),
}

async function againstNeo4j(ours: Filled, theirs: Filled, file: string): Promise<Bar[]> {
  const bars: Bar[] = []
  for (const [name, work] of Object.entries(works))
    bars.push(
      await compare(
        name,
        (round) => work(ours, round),
        (round) => work(theirs, round),
      ),
    )
  return [...bars, await closures(ours, theirs, file)]
}

/** The ratio of the middles: a claim in one is no pair of a claim in the other. */
async function compare(name: string, ours: (n: number) => unknown, theirs: (n: number) => unknown): Promise<Bar> {
  const took: [number[], number[]] = [[], []]
  for (let round = -5; round < rounds; round++) {
    const pair = [await time(() => ours(round + 5)), await time(() => theirs(round + 5))]
    if (round >= 0) for (const side of [0, 1] as const) took[side].push(pair[side]!)
  }
  const [us, them] = [median(took[0]), median(took[1])]
  return atMost(0.3, `${name}: SQLite / Neo4j`, [us / them], `p50 ${ms(us)} against ${ms(them)}; ${rounds} each`)
}

const sql = `WITH RECURSIVE reached(id, depth) AS (VALUES (:id, 0)
  UNION SELECT edge.target, depth + 1 FROM edge JOIN reached ON edge.source = reached.id
    WHERE edge.type = 'DEPENDS_ON' AND depth < ${hops})
  SELECT DISTINCT id FROM reached WHERE depth > 0`
const cypher = `MATCH (:Entity {id: $id})-[:DEPENDS_ON*1..${hops}]->(d:Task) RETURN DISTINCT d.id AS id`

/** No tool asks for it: one statement each, on the same tables and nodes. */
async function closures(ours: Filled, theirs: Filled, file: string): Promise<Bar> {
  const database = new DatabaseSync(file, { readOnly: true })
  const statement = database.prepare(sql)
  const { url, user, password } = theirs.address as Exclude<GraphAddress, { file: string }>
  const driver = neo4j.driver(url, { scheme: 'basic', principal: user, credentials: password })
  const session = driver.session()
  const bar = await compare(
    `closure of ${hops} hops`,
    (round) => statement.all({ id: idOf(ours, round) }),
    (round) => session.executeRead((transaction) => transaction.run(cypher, { id: idOf(theirs, round) })),
  )
  const found = await session.run(cypher, { id: idOf(theirs, 3) })
  const same = found.records.length === statement.all({ id: idOf(ours, 3) }).length
  await driver.close()
  database.close()
  return { ...bar, ok: bar.ok && same, detail: `${bar.detail}; ${found.records.length} tasks in both: ${same}` }
}

/** From the moment in which a request is about to leave until its answer is there. */
async function againstStdio({ ids }: Filled, folder: string, file: string): Promise<Bar> {
  const graph = { command: process.execPath, args: [join(import.meta.dirname, 'tasks/graph-server.ts'), file] }
  const text = JSON.stringify({ servers: { graph } })
  const { servers } = parseConfig({ file: null, text, home: folder, env: {}, directory: folder })
  const sandbox = { minTier: 'os', outbound: [] } as const
  const artifacts = { folder: join(folder, 'artifacts') }
  const builtIn = { home: folder, artifacts, taskGraph: { file }, resultText: () => '', sandbox }
  const catalog = openCatalog({
    servers,
    folder: join(folder, 'catalog'),
    baseEnv: { PATH: process.env.PATH! },
    builtIn,
  })
  const asking = async (id: string) => {
    const tool = (await catalog.tool(id))!
    return async (round: number) => {
      let sent = 0
      const commit = async () => {
        sent = performance.now()
        return true
      }
      const args = { taskID: ids[2000 + ((round * 1777) % 7000)]! }
      const signal = new AbortController().signal
      const { outcome } = await catalog.try(tool, args, { signal, timeoutMs: 60_000, run, call: String(round), commit })
      if (outcome !== 'answered') throw new Error(`${id} did not answer`)
      return performance.now() - sent
    }
  }
  const [ours, theirs] = [await asking('metier:get_task_details'), await asking('graph:get_task_details')]
  const took: [number[], number[]] = [[], []]
  for (let round = -20; round < 200; round++) {
    const pair = [await ours(round + 20), await theirs(round + 20)]
    if (round >= 0) for (const side of [0, 1] as const) took[side].push(pair[side]!)
  }
  await catalog.close()
  const [us, them] = [median(took[0]), median(took[1])]
  const detail = `p50 ${ms(us)} against ${ms(them)}, 200 each`
  return atMost(0.3, 'get_task_details, sent to answered / behind stdio', [us / them], detail)
}

await main()
