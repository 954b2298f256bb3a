/**
 * What every database of the task graph must do: the same ids, answers and codes, receipts that
 * make a repeated write a no-op, and rules that hold under concurrent writers.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { AppError, newId } from '#model'
import type { GraphStore } from '#tasks'
import {
  addRelationship,
  type Caller,
  claimReadyTask,
  createMission,
  createTask,
  dependenciesCompleted,
  ensureNode,
  findOwner,
  getArtifact,
  getMission,
  getTask,
  listMissions,
  listTasks,
  newestNodes,
  openTaskGraph,
  recordArtifact,
  recordFailure,
  recordValidation,
  relationshipTypes,
  removeRelationship,
  type TaskGraph,
  taskStatuses,
  updateMissionStatus,
  updateTask,
  updateTaskStatus,
} from '#tasks'

type Open = (t: TestContext) => Promise<{ store: GraphStore; another(): Promise<GraphStore> }>

/** Calls of one run, numbered as the engine would. */
function caller(run: string = newId()): () => Caller {
  let call = 0
  return () => ({ run, call: String(++call), signal: AbortSignal.timeout(60_000) })
}

async function refused(work: Promise<unknown> | (() => Promise<unknown>), code: string): Promise<AppError> {
  try {
    await (typeof work === 'function' ? work() : work)
  } catch (error) {
    assert.ok(error instanceof AppError, String(error))
    assert.equal(error.code, code, String(error))
    return error
  }
  assert.fail(`${code} was expected, and nothing was refused`)
}

export function taskGraphContract(name: string, open: Open, options: { skip?: string | false } = {}): void {
  describe(`the task graph in ${name}`, { skip: options.skip ?? false }, () => {
    const fresh = async (t: TestContext) => {
      const { store, another } = await open(t)
      return { graph: openTaskGraph(store, ticking()), another, next: caller() }
    }
    tasksAndMissions(fresh)
    relationships(fresh)
    readyAndClaimed(fresh)
    readyOrder(fresh)
    staleCandidates(fresh)
    otherNodes(fresh)
    wholeTask(fresh)
    receipts(fresh)
    concurrentWriters(fresh)
  })
}

/** No two looks at this clock are alike: what is made first is older. */
function ticking(): () => Date {
  let last = 0
  return () => {
    last = Math.max(Date.now(), last + 1)
    return new Date(last)
  }
}

type Fresh = (t: TestContext) => Promise<{ graph: TaskGraph; another(): Promise<GraphStore>; next: () => Caller }>

function tasksAndMissions(fresh: Fresh): void {
  test('a task is created under a mission or a task, and inherits the mission', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'Ship', description: 'All of it' }, next())
    const call = next()
    const { taskID } = await createTask(graph, { parentNodeID: missionID, taskName: 'Build', description: 'x' }, call)
    const child = await createTask(graph, { parentNodeID: taskID, description: 'y', initialStatus: 'DONE' }, next())
    const { task } = await getTask(graph, { taskID }, call)
    const { createdAt, updatedAt, ...rest } = task!
    assert.equal(createdAt, updatedAt)
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(rest, {
      id: taskID,
      name: 'Build',
      description: 'x',
      status: 'QUEUED',
      temporalWorkflowID: call.run,
      parentID: missionID,
      childTaskIDs: [child.taskID],
      missionID,
    })
    const under = (await getTask(graph, { taskID: child.taskID }, call)).task
    assert.deepEqual([under?.parentID, under?.missionID, under?.status], [taskID, missionID, 'DONE'])
  })

  test('bad arguments are refused with the name of the parameter, and nothing is created', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'm' }, next())
    const make = (given: object) => () =>
      createTask(graph, { parentNodeID: missionID, description: 'x', ...given }, next())
    const table: [object, string, string][] = [
      [{ description: '' }, 'MISSING_REQUIRED_PARAM', 'description'],
      [{ description: 'é'.repeat(2001) }, 'INVALID_INPUT_PARAM', 'description'],
      [{ taskName: 'n'.repeat(101) }, 'INVALID_INPUT_PARAM', 'taskName'],
      [{ initialStatus: 'queued' }, 'INVALID_INPUT_PARAM', 'initialStatus'],
      [{ parentNodeID: 'mission' }, 'INVALID_INPUT_PARAM', 'parentNodeID'],
      [{ description: 'a\0b' }, 'INVALID_INPUT_PARAM', 'description'],
    ]
    for (const [given, code, param] of table) assert.equal((await refused(make(given), code)).context.param, param)
    await make({ description: '😀'.repeat(2000), taskName: '😀'.repeat(100) })()
    const gone = newId()
    assert.equal((await refused(make({ parentNodeID: gone }), 'NEO4J_NODE_NOT_FOUND')).context.nodeID, gone)
    const { nodeID } = await ensureNode(graph, { kind: 'Tag', name: 't' }, next())
    const error = await refused(make({ parentNodeID: nodeID }), 'INVALID_INPUT_PARAM')
    assert.equal(error.context.param, 'parentNodeID')
    assert.equal((await listTasks(graph, { missionID }, next())).tasks.length, 1)
  })

  test('a status is set from any other, compared where one is expected, and the same again succeeds', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'm' }, next())
    const { taskID } = await createTask(graph, { parentNodeID: missionID, description: 'x' }, next())
    const set = (newStatus: string, expectedStatus?: string) =>
      updateTaskStatus(graph, { taskID, newStatus, ...(expectedStatus && { expectedStatus }) }, next())
    for (const from of taskStatuses)
      for (const to of taskStatuses) {
        await set(from)
        assert.equal((await set(to, from)).status, to)
      }
    await set('QUEUED')
    const error = await refused(set('DONE', 'IN_PROGRESS'), 'INVALID_INPUT_PARAM')
    assert.deepEqual(
      [error.context.param, error.context.value, error.context.actual, error.context.details],
      ['expectedStatus', 'IN_PROGRESS', 'QUEUED', 'was expected to be IN_PROGRESS and is QUEUED'],
    )
    const first = await set('QUEUED')
    assert.equal((await getTask(graph, { taskID }, next())).task?.updatedAt, first.updatedAt)
    await refused(updateTaskStatus(graph, { taskID: newId(), newStatus: 'DONE' }, next()), 'NEO4J_NODE_NOT_FOUND')
    await refused(updateTaskStatus(graph, { taskID: missionID, newStatus: 'DONE' }, next()), 'INVALID_INPUT_PARAM')
    assert.equal((await updateMissionStatus(graph, { missionID, newStatus: 'DONE' }, next())).status, 'DONE')
    assert.equal((await getTask(graph, { taskID: newId() }, next())).task, null)
  })

  test('a task keeps what is written to it, and lists page through missions and tasks', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'paged' }, next())
    const ids: string[] = []
    for (const description of ['a', 'b', 'c'])
      ids.push((await createTask(graph, { parentNodeID: missionID, description }, next())).taskID)
    const given = {
      taskID: ids[0],
      name: 'n',
      priority: -3,
      expectedDeliverable: 'd',
      resultData: '{"a":1}',
      notes: '',
    }
    const { task } = await updateTask(graph, given, next())
    const { taskID: _, ...wanted } = given
    assert.partialDeepStrictEqual(task, wanted)
    assert.deepEqual((await getTask(graph, { taskID: ids[0] }, next())).task, task)
    const itself = await updateTask(graph, { taskID: ids[0], notes: ids[0], resultData: missionID }, next())
    assert.deepEqual([itself.task.notes, itself.task.resultData], [ids[0], missionID])
    assert.deepEqual((await getTask(graph, { taskID: ids[0] }, next())).task, itself.task)
    const page = await listTasks(graph, { missionID, limit: 2 }, next())
    assert.deepEqual([page.tasks.length, page.next], [2, 2])
    const rest = await listTasks(graph, { missionID, limit: 2, offset: 2 }, next())
    assert.deepEqual([rest.tasks.length, rest.next], [1, null])
    await updateTaskStatus(graph, { taskID: ids[1], newStatus: 'DONE' }, next())
    const found = await listed(graph, missionID, next)
    assert.deepEqual(found?.tasks, { QUEUED: 2, DONE: 1 })
    const whole = await getMission(graph, { missionID }, next())
    assert.deepEqual([whole?.mission, whole?.tasks.map(({ id }) => id)], [found, ids])
    assert.equal(await getMission(graph, { missionID: ids[0] }, next()), null, 'a task is no mission')
    const prefix = missionID.slice(0, 12)
    assert.deepEqual(await newestNodes(graph, { kind: 'Mission', prefix, limit: 5 }, next()), [missionID])
    assert.deepEqual(await newestNodes(graph, { kind: 'Task', prefix: missionID, limit: 5 }, next()), [])
  })
}

/** Page after page: a server that many tests share has many missions. */
async function listed(graph: TaskGraph, missionID: string, next: () => Caller) {
  for (let offset: number | null = 0; offset !== null; ) {
    const page = await listMissions(graph, { status: 'ACTIVE', limit: 500, offset }, next())
    const found = page.missions.find(({ id }) => id === missionID)
    if (found !== undefined) return found
    offset = page.next
  }
  return undefined
}

/** All that the fifteen relationships may join, word for word. */
const joins = [
  'Task DEPENDS_ON Task',
  'Task IS_CHILD_OF Task',
  'Mission HAS_ROOT_TASK Task',
  'Task PART_OF Mission',
  'Task ASSIGNED_TO Agent',
  'Task REQUIRES_CAPABILITY Capability',
  'Task HAS_TAG Tag',
  'Mission HAS_TAG Tag',
  'Artifact HAS_TAG Tag',
  'Task PRODUCES_ARTIFACT Artifact',
  'Task CONSUMES_ARTIFACT Artifact',
  'Task USED_PROMPT Artifact',
  'Task HAS_EXECUTION_LOG Artifact',
  'Agent HAS_ACCESS_TO Tool',
  'Tool IMPLEMENTS Capability',
  'Agent IMPLEMENTS Capability',
  'Task VALIDATED_BY Validation',
  'Mission CREATED_BY Agent',
  'Mission CREATED_BY User',
  'Task CREATED_BY Agent',
  'Task CREATED_BY User',
  'Artifact CREATED_BY Agent',
  'Artifact CREATED_BY User',
]

function relationships(fresh: Fresh): void {
  test('every relationship joins the kinds that it may join, and no others', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID: Mission } = await createMission(graph, { name: 'm' }, next())
    const task = async (parentNodeID: string) =>
      (await createTask(graph, { parentNodeID, description: 'x' }, next())).taskID
    const named = async (kind: string) => (await ensureNode(graph, { kind, name: 'n' }, next())).nodeID
    const Task = await task(Mission)
    const { validationID: Validation } = await recordValidation(graph, { taskID: Task, passed: true }, next())
    const artifact = { id: newId(), name: 'a', contentType: 'text/plain', storagePath: 'p', bytes: 1, sha256: '0' }
    const owned = { ...artifact, ownerEntityID: Mission, relationship: 'PRODUCES_ARTIFACT' } as const
    const { artifactID: Artifact } = await recordArtifact(graph, owned, next())
    const [Agent, User, Capability, Tool, Tag] = [
      await named('Agent'),
      await named('User'),
      await named('Capability'),
      await named('Tool'),
      await named('Tag'),
    ]
    const ids: Record<string, string> = { Mission, Task, Agent, User, Artifact, Capability, Tool, Tag, Validation }
    const allowed: string[] = []
    const refusals: { name: string; given: object }[] = []
    for (const relationshipType of relationshipTypes) {
      for (const [from, fromNodeID] of Object.entries(ids)) {
        for (const [to, toNodeID] of Object.entries(ids)) {
          if (from === to) continue
          const given = { fromNodeID, toNodeID, relationshipType }
          const name = `${from} ${relationshipType} ${to}`
          if (joins.includes(name)) {
            await addRelationship(graph, given, next())
            allowed.push(name)
          } else refusals.push({ name, given })
        }
      }
    }
    for (let from = 0; from < refusals.length; from += 8)
      await Promise.all(
        refusals.slice(from, from + 8).map(async ({ name, given }) => {
          const error = await refused(addRelationship(graph, given, next()), 'INVALID_INPUT_PARAM')
          assert.equal(error.context.param, 'relationshipType', name)
        }),
      )
    assert.deepEqual(allowed.sort(), joins.filter((name) => !/^Task \w+ Task$/.test(name)).sort())
  })

  test('links are made once, found in both directions, and removed once', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'm' }, next())
    const make = async () => (await createTask(graph, { parentNodeID: missionID, description: 'x' }, next())).taskID
    const [a, b] = [await make(), await make()]
    const link = { fromNodeID: a, toNodeID: b, relationshipType: 'DEPENDS_ON' }
    assert.deepEqual(await addRelationship(graph, link, next()), { created: true })
    assert.deepEqual(await addRelationship(graph, link, next()), { created: false })
    assert.deepEqual((await getTask(graph, { taskID: a }, next())).task?.dependencyTaskIDs, [b])
    assert.deepEqual((await getTask(graph, { taskID: b }, next())).task?.dependentTaskIDs, [a])
    assert.deepEqual(await dependenciesCompleted(graph, { taskID: a }, next()), { allCompleted: false })
    await updateTaskStatus(graph, { taskID: b, newStatus: 'VALIDATED' }, next())
    assert.deepEqual(await dependenciesCompleted(graph, { taskID: a }, next()), { allCompleted: true })
    assert.deepEqual(await removeRelationship(graph, link, next()), { removed: true })
    await refused(removeRelationship(graph, link, next()), 'NEO4J_RELATIONSHIP_NOT_FOUND')
    await refused(addRelationship(graph, { ...link, toNodeID: a }, next()), 'INVALID_INPUT_PARAM')
    await refused(addRelationship(graph, { ...link, toNodeID: newId() }, next()), 'NEO4J_NODE_NOT_FOUND')
    await refused(addRelationship(graph, { ...link, relationshipType: 'BLOCKS' }, next()), 'INVALID_INPUT_PARAM')
    const unknown = { fromNodeID: a, toNodeID: `tag:${newId()}`, relationshipType: 'HAS_TAG' }
    const absent = await refused(addRelationship(graph, unknown, next()), 'NEO4J_NODE_NOT_FOUND')
    assert.match(absent.message, new RegExp(`"${unknown.toNodeID}": there is none of this name; ensure_node makes it`))
    await ensureNode(graph, { kind: 'Tag', name: 'urgent `x`' }, next())
    const tag = { fromNodeID: a, toNodeID: 'tag:urgent `x`', relationshipType: 'HAS_TAG' }
    await addRelationship(graph, tag, next())
    assert.deepEqual((await getTask(graph, { taskID: a }, next())).task?.tags, ['urgent `x`'])
  })

  test('no cycle, no second parent, no second assignee, no other mission', async (t) => {
    const { graph, next } = await fresh(t)
    const [one, two] = [
      (await createMission(graph, { name: 'one' }, next())).missionID,
      (await createMission(graph, { name: 'two' }, next())).missionID,
    ]
    const make = async (parentNodeID: string) =>
      (await createTask(graph, { parentNodeID, description: 'x' }, next())).taskID
    const add = (fromNodeID: string, relationshipType: string, toNodeID: string) =>
      addRelationship(graph, { fromNodeID, toNodeID, relationshipType }, next())
    const [a, b, c] = [await make(one), await make(one), await make(one)]
    await add(a, 'DEPENDS_ON', b)
    await add(b, 'DEPENDS_ON', c)
    assert.equal((await refused(add(c, 'DEPENDS_ON', a), 'INVALID_INPUT_PARAM')).context.param, 'relationshipType')
    await refused(add(a, 'IS_CHILD_OF', b), 'NEO4J_CONSTRAINT_VIOLATION')
    await refused(add(one, 'HAS_ROOT_TASK', await make(a)), 'NEO4J_CONSTRAINT_VIOLATION')
    await refused(add(a, 'PART_OF', two), 'NEO4J_CONSTRAINT_VIOLATION')
    assert.deepEqual(await add(a, 'PART_OF', one), { created: true })
    const agents = ['A', 'B'].map((name) => ensureNode(graph, { kind: 'Agent', name }, next()))
    const [first, second] = await Promise.all(agents)
    await add(a, 'ASSIGNED_TO', first!.nodeID)
    await refused(add(a, 'ASSIGNED_TO', second!.nodeID), 'NEO4J_CONSTRAINT_VIOLATION')
    await removeRelationship(graph, { fromNodeID: one, toNodeID: b, relationshipType: 'HAS_ROOT_TASK' }, next())
    await refused(add(two, 'HAS_ROOT_TASK', b), 'NEO4J_CONSTRAINT_VIOLATION')
    assert.deepEqual(await add(b, 'IS_CHILD_OF', a), { created: true })
    await refused(add(a, 'IS_CHILD_OF', b), 'INVALID_INPUT_PARAM')
  })
}

function readyAndClaimed(fresh: Fresh): void {
  test('a claim takes the ready task of the highest priority, and its agent is busy until it is over', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'm' }, next())
    const make = async () => (await createTask(graph, { parentNodeID: missionID, description: 'x' }, next())).taskID
    const [low, high, held, skilled] = [await make(), await make(), await make(), await make()]
    await updateTask(graph, { taskID: high, priority: 5 }, next())
    await updateTask(graph, { taskID: held, priority: 9 }, next())
    await addRelationship(graph, { fromNodeID: held, toNodeID: high, relationshipType: 'DEPENDS_ON' }, next())
    await ensureNode(graph, { kind: 'Capability', name: 'python' }, next())
    const skill = { fromNodeID: skilled, toNodeID: 'capability:python', relationshipType: 'REQUIRES_CAPABILITY' }
    await addRelationship(graph, skill, next())
    const { nodeID: agentID } = await ensureNode(graph, { kind: 'Agent', name: newId() }, next())
    const agent = async () => graph.store.read(async (reader) => (await reader.node(agentID))?.status, next().signal)
    assert.equal(await agent(), 'IDLE')
    const claim = async (capabilities?: string[]) =>
      (await claimReadyTask(graph, { agentID, missionID, ...(capabilities && { capabilities }) }, next())).task
    const ready = await listTasks(graph, { missionID, ready: true }, next())
    assert.deepEqual(
      ready.tasks.map(({ id }) => id),
      [high, low, skilled],
    )
    const claimed = await claim()
    assert.deepEqual([claimed?.id, claimed?.status, claimed?.assignedAgentID], [high, 'IN_PROGRESS', agentID])
    assert.equal((await claim())?.id, low)
    assert.equal(await claim(), null)
    assert.equal(await agent(), 'BUSY')
    assert.equal((await claim(['python', 'go']))?.id, skilled)
    await updateTaskStatus(graph, { taskID: high, newStatus: 'DONE' }, next())
    assert.equal((await claim())?.id, held)
    for (const taskID of [low, skilled, held]) {
      assert.equal(await agent(), 'BUSY')
      await updateTaskStatus(graph, { taskID, newStatus: 'FAILED' }, next())
    }
    assert.equal(await agent(), 'IDLE', 'none of its tasks is in progress')
    const given = { parentNodeID: missionID, description: 'given', initialStatus: 'IN_PROGRESS' }
    const { taskID } = await createTask(graph, given, next())
    const assigned = { fromNodeID: taskID, toNodeID: agentID, relationshipType: 'ASSIGNED_TO' }
    await addRelationship(graph, assigned, next())
    assert.equal(await agent(), 'BUSY', 'it was given a task in progress')
    await removeRelationship(graph, assigned, next())
    assert.equal(await agent(), 'IDLE', 'the task was taken away again')
    await refused(claimReadyTask(graph, { agentID: newId() }, next()), 'NEO4J_NODE_NOT_FOUND')
    await refused(claimReadyTask(graph, { agentID: missionID }, next()), 'INVALID_INPUT_PARAM')
  })
}

/** As they are claimed: by priority, then by age, then by id. */
function readyOrder(fresh: Fresh): void {
  test('ready tasks stand by priority, none counting as 0, then by age, then by id', async (t) => {
    const { graph: ticks, next } = await fresh(t)
    const { missionID } = await createMission(ticks, { name: 'm' }, next())
    const make = async (graph: TaskGraph, priority?: number) => {
      const { taskID } = await createTask(graph, { parentNodeID: missionID, description: 'x' }, next())
      if (priority !== undefined) await updateTask(graph, { taskID, priority }, next())
      return taskID
    }
    const [low, none, zero, high] = [
      await make(ticks, -1),
      await make(ticks),
      await make(ticks, 0),
      await make(ticks, 2),
    ]
    const at = new Date(ticks.now().getTime() + 1000)
    const twins = { ...ticks, now: () => at }
    const [one, other] = [await make(twins), await make(twins)].toSorted()
    const older = { ...ticks, now: () => new Date(0) }
    const oldest = await make(older)
    const { tasks } = await listTasks(ticks, { missionID, ready: true }, next())
    const expected = [high, oldest, none, zero, one, other, low]
    assert.deepEqual(
      tasks.map(({ id }) => id),
      expected,
    )
  })
}

/** Between the search for candidates and the lock on one of them, other clients go on. */
function staleCandidates(fresh: Fresh): void {
  test('a claim judges a candidate again under its lock: what changed since it was found', async (t) => {
    const { graph, another, next } = await fresh(t)
    const { nodeID: agentID } = await ensureNode(graph, { kind: 'Agent', name: newId() }, next())
    const { nodeID: other } = await ensureNode(graph, { kind: 'Agent', name: newId() }, next())
    await ensureNode(graph, { kind: 'Capability', name: 'go' }, next())
    const links = { REQUIRES_CAPABILITY: 'capability:go', ASSIGNED_TO: other, HAS_TAG: 'tag:go' }
    await ensureNode(graph, { kind: 'Tag', name: 'go' }, next())
    for (const [relationshipType, toNodeID] of Object.entries(links)) {
      const { missionID } = await createMission(graph, { name: 'm' }, next())
      const { taskID } = await createTask(graph, { parentNodeID: missionID, description: 'x' }, next())
      const found = await graph.store.read(
        (reader) => reader.tasks({ missionID, ready: true, limit: 1, offset: 0 }),
        next().signal,
      )
      await addRelationship(graph, { fromNodeID: taskID, toNodeID, relationshipType }, next())
      const stale = withCandidates(await another(), found)
      const { task } = await claimReadyTask(openTaskGraph(stale), { agentID, missionID }, next())
      assert.equal(task?.id, relationshipType === 'HAS_TAG' ? taskID : undefined, relationshipType)
    }
  })
}

type Search = Parameters<Parameters<GraphStore['write']>[0]>[0]['tasks']

/** A store whose first search in a transaction answers as it would have a moment ago. */
function withCandidates(store: GraphStore, found: Awaited<ReturnType<Search>>): GraphStore {
  return {
    ...store,
    write: (work, signal) =>
      store.write((writer) => {
        let isStale = true
        const tasks: Search = async (query) => {
          const answer = isStale ? found : await writer.tasks(query)
          isStale = false
          return answer
        }
        return work({ ...writer, tasks })
      }, signal),
  }
}

function otherNodes(fresh: Fresh): void {
  test('named nodes are one per name; validations, failures and artifacts are shown with their task', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'm' }, next())
    const { taskID } = await createTask(graph, { parentNodeID: missionID, description: 'x' }, next())
    const tag = () => ensureNode(graph, { kind: 'Tag', name: 'same' }, next())
    assert.deepEqual(await tag(), await tag())
    await recordValidation(graph, { taskID, passed: false, report: 'no' }, next())
    const { validationID } = await recordValidation(graph, { taskID, passed: true }, next())
    const { failureID } = await recordFailure(graph, { taskID, code: 'E', message: 'broke' }, next())
    const owner = await findOwner(graph, taskID, next())
    assert.deepEqual(owner, { id: taskID, kind: 'Task' })
    const stored = { id: newId(), name: 'log.txt', contentType: 'text/plain', storagePath: 'artifacts/x/log.txt' }
    const log = { ...stored, bytes: 3, sha256: 'f'.repeat(64), ownerEntityID: taskID }
    await recordArtifact(graph, { ...log, relationship: 'HAS_EXECUTION_LOG' }, next())
    const { task } = await getTask(graph, { taskID }, next())
    assert.partialDeepStrictEqual(task, { validationID, failureID, logArtifactIDs: [stored.id] })
    const { artifact } = await getArtifact(graph, { artifactID: stored.id }, next())
    const { CreatedAt, UpdatedAt, ...rest } = artifact!
    assert.equal(CreatedAt, UpdatedAt)
    assert.deepEqual(rest, {
      ID: stored.id,
      Type: 'text/plain',
      StoragePath: 'artifacts/x/log.txt',
      FileName: 'log.txt',
      Tags: [],
    })
    assert.equal((await getArtifact(graph, { artifactID: taskID }, next())).artifact, null)
  })
}

/** Every member of a TaskInfo, by the names that the specification fixes. */
const taskMembers = [
  'id',
  'name',
  'description',
  'status',
  'priority',
  'createdAt',
  'updatedAt',
  'temporalWorkflowID',
  'expectedDeliverable',
  'resultData',
  'notes',
  'parentID',
  'childTaskIDs',
  'dependencyTaskIDs',
  'dependentTaskIDs',
  'assignedAgentID',
  'producedArtifactIDs',
  'consumedArtifactIDs',
  'requiredCapabilities',
  'validationID',
  'failureID',
  'missionID',
  'promptArtifactID',
  'logArtifactIDs',
  'tags',
]

function wholeTask(fresh: Fresh): void {
  test('a task that has everything has 25 members, in their order; of several prompts the newest is shown', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'm' }, next())
    const make = async (parentNodeID: string) =>
      (await createTask(graph, { parentNodeID, taskName: 'n', description: 'x' }, next())).taskID
    const [taskID, before, after] = [await make(missionID), await make(missionID), await make(missionID)]
    const child = await make(taskID)
    const texts = { expectedDeliverable: 'd', resultData: 'r', notes: 'n', priority: 0 }
    await updateTask(graph, { taskID, ...texts }, next())
    const node = async (kind: string) => (await ensureNode(graph, { kind, name: 'whole' }, next())).nodeID
    const [agent] = [await node('Agent'), await node('Capability'), await node('Tag')]
    const add = (fromNodeID: string, relationshipType: string, toNodeID: string) =>
      addRelationship(graph, { fromNodeID, toNodeID, relationshipType }, next())
    await add(taskID, 'DEPENDS_ON', before)
    await add(after, 'DEPENDS_ON', taskID)
    await add(taskID, 'ASSIGNED_TO', agent)
    await add(taskID, 'REQUIRES_CAPABILITY', 'capability:whole')
    await add(taskID, 'HAS_TAG', 'tag:whole')
    const { validationID } = await recordValidation(graph, { taskID, passed: true }, next())
    const { failureID } = await recordFailure(graph, { taskID, code: 'C', message: 'm' }, next())
    const artifact = async (relationship: Parameters<typeof recordArtifact>[1]['relationship']) => {
      const stored = { id: newId(), name: 'a', contentType: 'text/plain', storagePath: 'p', bytes: 1, sha256: '0' }
      await recordArtifact(graph, { ...stored, ownerEntityID: taskID, relationship }, next())
      return stored.id
    }
    const [made, read, first, prompt, log] = [
      await artifact('PRODUCES_ARTIFACT'),
      await artifact('CONSUMES_ARTIFACT'),
      await artifact('USED_PROMPT'),
      await artifact('USED_PROMPT'),
      await artifact('HAS_EXECUTION_LOG'),
    ]
    assert.notEqual(first, prompt)
    const { task } = await getTask(graph, { taskID }, next())
    assert.deepEqual(Object.keys(task!), taskMembers)
    assert.partialDeepStrictEqual(task, {
      priority: 0,
      parentID: missionID,
      childTaskIDs: [child],
      dependencyTaskIDs: [before],
      dependentTaskIDs: [after],
      assignedAgentID: agent,
      producedArtifactIDs: [made],
      consumedArtifactIDs: [read],
      requiredCapabilities: ['whole'],
      validationID,
      failureID,
      promptArtifactID: prompt,
      logArtifactIDs: [log],
      tags: ['whole'],
    })
    const listed = await listTasks(graph, { missionID }, next())
    const inList = listed.tasks.find(({ id }) => id === taskID)
    assert.deepEqual(inList, task, 'a list says the same, wherever a task of the same millisecond stands')
    assert.deepEqual((await getMission(graph, { missionID }, next()))?.tasks, listed.tasks)
  })

  test('an artifact of a mission is not linked, and keeps the id of its owner', async (t) => {
    const { graph, next } = await fresh(t)
    const { missionID } = await createMission(graph, { name: 'm' }, next())
    const stored = { id: newId(), name: 'a', contentType: 'text/plain', storagePath: 'p', bytes: 1, sha256: '0' }
    await recordArtifact(graph, { ...stored, ownerEntityID: missionID, relationship: 'PRODUCES_ARTIFACT' }, next())
    const kept = await graph.store.read(
      async (reader) => [(await reader.node(stored.id))?.properties.ownerEntityID, await reader.links(stored.id)],
      next().signal,
    )
    assert.deepEqual(kept, [missionID, []])
  })
}

function receipts(fresh: Fresh): void {
  test('a write that is repeated under its receipt answers the same and changes nothing', async (t) => {
    const { graph, another, next } = await fresh(t)
    const call = next()
    const first = await createMission(graph, { name: 'once' }, call)
    const again = openTaskGraph(await another())
    assert.deepEqual(await createMission(again, { name: 'once' }, call), first)
    const { missionID } = first
    const create = next()
    const made = await Promise.all(
      [graph, again, graph, again].map((each) =>
        createTask(each, { parentNodeID: missionID, description: 'x' }, create),
      ),
    )
    assert.equal(new Set(made.map(({ taskID }) => taskID)).size, 1)
    assert.equal((await listTasks(graph, { missionID }, next())).tasks.length, 1)
    const { nodeID: agentID } = await ensureNode(graph, { kind: 'Agent', name: newId() }, next())
    const claim = next()
    const claimed = await claimReadyTask(graph, { agentID, missionID }, claim)
    assert.deepEqual(await claimReadyTask(again, { agentID, missionID }, claim), claimed)
  })
}

function concurrentWriters(fresh: Fresh): void {
  test('eight clients at once: no task claimed twice, no cycle, no lost update', async (t) => {
    const { graph, another, next } = await fresh(t)
    const clients = [graph]
    for (let n = 1; n < 8; n++) clients.push(openTaskGraph(await another()))
    const { missionID } = await createMission(graph, { name: 'race' }, next())
    const created = clients.map(async (client) => {
      const [own, call]: [string[], () => Caller] = [[], caller()]
      for (let n = 0; n < 5; n++)
        own.push((await createTask(client, { parentNodeID: missionID, description: `${n}` }, call())).taskID)
      return own
    })
    const ids = (await Promise.all(created)).flat()
    assert.equal(new Set(ids).size, 40)
    await noCycle(clients, ids.slice(0, 8))
    await noneTwice(clients, missionID)
    await noneLost(clients, missionID)
  })
}

/** Each client closes a ring by one edge; at least one of them must be refused. */
async function noCycle(clients: TaskGraph[], ring: string[]): Promise<void> {
  const edges = clients.map((graph, n) => {
    const link = { fromNodeID: ring[n], toNodeID: ring[(n + 1) % ring.length], relationshipType: 'DEPENDS_ON' }
    return addRelationship(graph, link, caller()())
  })
  const results = await Promise.allSettled(edges)
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []))
  assert.equal(reasons.length, 1, reasons.join('\n'))
  assert.match(reasons[0]!, /INVALID_INPUT_PARAM.*cycle/)
  for (const [n, graph] of clients.entries()) {
    const link = { fromNodeID: ring[n], toNodeID: ring[(n + 1) % ring.length], relationshipType: 'DEPENDS_ON' }
    await removeRelationship(graph, link, caller()()).catch(() => {})
  }
}

async function noneTwice(clients: TaskGraph[], missionID: string): Promise<void> {
  const claimed = await Promise.all(
    clients.map(async (graph) => {
      const next = caller()
      const { nodeID: agentID } = await ensureNode(graph, { kind: 'Agent', name: newId() }, next())
      const own: string[] = []
      for (;;) {
        const { task } = await claimReadyTask(graph, { agentID, missionID }, next())
        if (task === null) return own
        own.push(task.id)
      }
    }),
  )
  const all = claimed.flat()
  assert.equal(all.length, 40)
  assert.equal(new Set(all).size, 40)
}

async function noneLost(clients: TaskGraph[], missionID: string): Promise<void> {
  const given = { parentNodeID: missionID, description: 'counted' }
  const { taskID } = await createTask(clients[0]!, given, caller()())
  const fields = ['name', 'notes', 'resultData', 'expectedDeliverable']
  const writes = clients.map((graph, n) => updateTask(graph, { taskID, [fields[n % 4]!]: `by ${n}` }, caller()()))
  await Promise.all(writes)
  const { task } = await getTask(clients[0]!, { taskID }, caller()())
  for (const field of fields) assert.match((task as Record<string, unknown>)[field] as string, /^by \d$/)
}
