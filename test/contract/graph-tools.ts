/**
 * What the tools of the task graph promise of themselves, over any database: each code that a tool
 * lists can be had of it and no other, and text is data, whatever it looks like.
 */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import neo4j from 'neo4j-driver-lite'
import { type BuiltInTool, openBuiltIn } from '#catalog/built-in'
import { builtInTools } from '#catalog/built-in-tools'
import { problemOf } from '#catalog/schema'
import { AppError, type ErrorCode, type JsonObject, limits, newId, uuidOf } from '#model'
import { type GraphAddress, type GraphStore, openGraphStore, openTaskGraph, relationshipTypes } from '#tasks'
import { temporaryFolder } from '#test'
import { hostileTexts } from './hostile-texts.ts'

type Outcome = { value: JsonObject } | { error: AppError }
type Ask = (name: string, args: JsonObject, call?: { run: string; call: string }) => Promise<Outcome>

/** The tools that stand on the graph: all but those of scripts and of stored content. */
const graphTools = builtInTools.filter(
  ({ documentation }) => documentation.errors.NEO4J_TRANSACTION_ERROR !== undefined,
)

/** As the engine calls them: judged by the schema first, then tried. */
function asking(t: TestContext, taskGraph: GraphAddress): Ask {
  const home = temporaryFolder(t)
  mkdirSync(join(home, 'artifacts'))
  const server = openBuiltIn(builtInTools, {
    home,
    artifacts: { folder: join(home, 'artifacts') },
    taskGraph,
    resultText: () => '"a result"',
    sandbox: { minTier: 'os', outbound: [] },
  })
  t.after(() => server.close())
  return async (name, args, { run, call } = { run: newId(), call: '1' }) => {
    const tool = server.tools.find((one) => one.name === name)!
    const problem = problemOf(tool, args) ?? server.problemOf(tool, args)
    if (problem !== null) return { error: problem }
    const done = await server.try(tool, args, { signal: new AbortController().signal, timeoutMs: 60_000, run, call })
    assert.equal(done.outcome, 'answered', JSON.stringify(done))
    if (done.outcome !== 'answered') throw new Error('unreachable')
    return done.ok ? { value: done.value as JsonObject } : { error: done.error }
  }
}

async function must(outcome: Promise<Outcome>): Promise<JsonObject> {
  const done = await outcome
  if ('error' in done) throw done.error
  return done.value
}

/** A small graph in which every tool can succeed once. */
async function world(ask: Ask) {
  const { missionID } = await must(ask('create_mission', { name: 'a mission' }))
  const task = async () => (await must(ask('create_task_node', { parentNodeID: missionID!, description: 'x' }))).taskID!
  const node = async (kind: string) => (await must(ask('ensure_node', { kind, name: 'one' }))).nodeID!
  const [first, second] = [await task(), await task()]
  const agent = await node('Agent')
  await node('Tag')
  await must(ask('add_relationship', { fromNodeID: first, toNodeID: second, relationshipType: 'DEPENDS_ON' }))
  await must(ask('add_relationship', { fromNodeID: first, toNodeID: agent, relationshipType: 'ASSIGNED_TO' }))
  const other = (await must(ask('ensure_node', { kind: 'Agent', name: 'two' }))).nodeID!
  return { missionID: missionID!, first, second, agent, other }
}

type World = Awaited<ReturnType<typeof world>>

/** For each tool, arguments that succeed and arguments that bring each of its own codes. */
function cases({ missionID, first, second, agent, other }: World): Record<string, Record<string, JsonObject>> {
  const nobody = newId()
  const long = 'x'.repeat(101)
  const task = (more: JsonObject = {}) => ({
    ok: { taskID: first, ...more },
    INVALID_INPUT_PARAM: { taskID: 'x', ...more },
    MISSING_REQUIRED_PARAM: { taskID: '', ...more },
    NEO4J_NODE_NOT_FOUND: { taskID: nobody, ...more },
  })
  const { NEO4J_NODE_NOT_FOUND: _absent, ...details } = task()
  const link = { fromNodeID: first, toNodeID: second, relationshipType: 'DEPENDS_ON' }
  const links = {
    INVALID_INPUT_PARAM: { ...link, toNodeID: first },
    MISSING_REQUIRED_PARAM: { ...link, fromNodeID: '' },
    NEO4J_NODE_NOT_FOUND: { ...link, toNodeID: nobody },
  }
  return {
    create_mission: { ok: { name: 'm' }, INVALID_INPUT_PARAM: { name: long }, MISSING_REQUIRED_PARAM: { name: '' } },
    list_missions: { ok: {}, INVALID_INPUT_PARAM: { status: 'OPEN' } },
    update_mission_status: {
      ok: { missionID, newStatus: 'DONE', expectedStatus: 'ACTIVE' },
      INVALID_INPUT_PARAM: { missionID, newStatus: 'DONE', expectedStatus: 'FAILED' },
      MISSING_REQUIRED_PARAM: { missionID },
      NEO4J_NODE_NOT_FOUND: { missionID: nobody, newStatus: 'DONE' },
    },
    create_task_node: {
      ok: { parentNodeID: missionID, description: 'd', taskName: 'n', initialStatus: 'DONE' },
      INVALID_INPUT_PARAM: { parentNodeID: agent, description: 'd' },
      MISSING_REQUIRED_PARAM: { parentNodeID: missionID, description: '' },
      NEO4J_NODE_NOT_FOUND: { parentNodeID: nobody, description: 'd' },
    },
    get_task_details: details,
    list_tasks: {
      ok: { missionID, ready: true, limit: 5 },
      INVALID_INPUT_PARAM: { limit: 0 },
      MISSING_REQUIRED_PARAM: { missionID: '' },
    },
    update_task_status: task({ newStatus: 'DONE' }),
    update_task: task({ priority: 3, notes: 'n' }),
    add_relationship: {
      ok: { fromNodeID: first, toNodeID: 'tag:one', relationshipType: 'HAS_TAG' },
      ...links,
      NEO4J_CONSTRAINT_VIOLATION: { fromNodeID: first, toNodeID: other, relationshipType: 'ASSIGNED_TO' },
    },
    remove_relationship: {
      ok: link,
      ...links,
      NEO4J_RELATIONSHIP_NOT_FOUND: { ...link, fromNodeID: second, toNodeID: first },
    },
    check_task_dependencies_completion: task(),
    claim_ready_task: {
      ok: { agentID: agent, missionID, capabilities: ['python'] },
      INVALID_INPUT_PARAM: { agentID: first },
      MISSING_REQUIRED_PARAM: { agentID: '' },
      NEO4J_NODE_NOT_FOUND: { agentID: nobody },
    },
    ensure_node: {
      ok: { kind: 'User', name: 'ada' },
      INVALID_INPUT_PARAM: { kind: 'Robot', name: 'x' },
      MISSING_REQUIRED_PARAM: { kind: 'User', name: '' },
    },
    record_validation: task({ passed: true, report: 'r' }),
    record_failure: task({ code: 'C', message: 'm' }),
    store_artifact: {
      ok: { ownerEntityID: first, artifactName: 'a b.txt', contentType: 'text/plain', content: 'x' },
      INVALID_INPUT_PARAM: { ownerEntityID: first, artifactName: 'a', contentType: 'text', content: 'x' },
      MISSING_REQUIRED_PARAM: { ownerEntityID: first, artifactName: 'a', contentType: 'text/plain' },
      NEO4J_NODE_NOT_FOUND: { ownerEntityID: nobody, artifactName: 'a', contentType: 'text/plain', content: 'x' },
      S3_SIZE_LIMIT_EXCEEDED: {
        ownerEntityID: first,
        artifactName: 'a',
        contentType: 'text/plain',
        content: 'x'.repeat(limits.artifactBytesMax + 1),
      },
    },
    get_artifact_info: {
      ok: { artifactID: nobody },
      INVALID_INPUT_PARAM: { artifactID: 'x' },
      MISSING_REQUIRED_PARAM: { artifactID: '' },
    },
  }
}

/** Failures that can befall any call: injected where the tools meet the database. */
const injected: Partial<Record<ErrorCode, Error>> = {
  PERMISSION_DENIED: new AppError('PERMISSION_DENIED', 'refused'),
  NEO4J_CONNECTION_ERROR: new AppError('NEO4J_CONNECTION_ERROR', 'away'),
  NEO4J_TRANSACTION_ERROR: new AppError('NEO4J_TRANSACTION_ERROR', 'deadlock'),
  NEO4J_QUERY_ERROR: new AppError('NEO4J_QUERY_ERROR', 'syntax'),
  CONFIG_INVALID: new AppError('CONFIG_INVALID', 'of a newer version'),
  TOOL_INTERNAL_ERROR: new TypeError('a bug'),
}

/** The same of the store of artifacts, for the one tool of the graph that uses it. */
const storeFailures = ['S3_ACCESS_DENIED', 'S3_UPLOAD_FAILED', 'S3_CONNECTION_ERROR', 'STORE_FULL'] as const

async function failsToStore(run: BuiltInTool['run'], args: JsonObject, address: GraphAddress): Promise<void> {
  const store = await openGraphStore(address)
  for (const code of storeFailures) {
    const error = new AppError(code, 'no')
    const artifacts = { put: () => Promise.reject(error) }
    const parts = { graph: async () => openTaskGraph(store), artifacts } as unknown as Parameters<typeof run>[1]
    await assert.rejects(run(args, parts, { run: newId(), call: '1', signal: new AbortController().signal }), error)
  }
  await store.close()
}

const newNodes: Record<string, string> = {
  create_mission: 'mission',
  create_task_node: 'task',
  record_validation: 'validation',
  record_failure: 'failure',
  store_artifact: 'artifact',
}

/** A tool that creates a node finds another one under the id that is derived from run and call. */
async function whereTaken(tool: string, args: JsonObject, ask: Ask, address: GraphAddress): Promise<string[]> {
  if (newNodes[tool] === undefined) return []
  const call = { run: newId(), call: '1' }
  const [id, at] = [uuidOf(`${call.run}/1/${newNodes[tool]}`), new Date().toISOString()]
  const store = await openGraphStore(address)
  const node = { id, kind: 'User', createdAt: at, updatedAt: at, properties: {} } as const
  await store.write((writer) => writer.createNode(node), AbortSignal.timeout(60_000))
  await store.close()
  const outcome = await ask(tool, args, call)
  return 'error' in outcome ? [outcome.error.code] : []
}

/** Arguments that succeed, of the tools that do without the graph. */
const otherCases: Record<string, JsonObject> = {
  retrieve_artifact: { storagePath: `artifacts/${newId()}/a.txt` },
  execute_script_in_sandbox: { interpreter: 'bash', scriptContent: 'true', config: { tier: 'os' } },
}

/** What a hostile text must never bring about: it would have got further than data may. */
const breakdowns: readonly string[] = [
  'TOOL_INTERNAL_ERROR',
  'NEO4J_QUERY_ERROR',
  'NEO4J_CONNECTION_ERROR',
  'NEO4J_TRANSACTION_ERROR',
]

/** One text in `share` for each place, another one for the next: all of them where it is 1. */
const someOf = (share: number, place: number) => hostileTexts.filter((_, index) => (index + place) % share === 0)

type Place = { name: string; fill(args: JsonObject, text: string): JsonObject }

/** Every place of a schema where a string may stand: members, items, and keys of maps. */
function stringPlaces({ properties, additionalProperties: values }: JsonObject): Place[] {
  const members = Object.entries((properties ?? {}) as Record<string, JsonObject>)
  const places = members.flatMap(([key, schema]): Place[] => {
    if (schema.type === 'string') return [{ name: key, fill: (args, text) => ({ ...args, [key]: text }) }]
    if (schema.type === 'array') return [{ name: `${key}[]`, fill: (args, text) => ({ ...args, [key]: [text] }) }]
    return stringPlaces(schema).map(({ name, fill }) => ({
      name: `${key}.${name}`,
      fill: (args, text) => ({ ...args, [key]: fill((args[key] ?? {}) as JsonObject, text) }),
    }))
  })
  if (typeof values !== 'object') return places
  const path = `artifacts/${newId()}/a.txt`
  const key: Place = { name: 'key', fill: (_, text) => ({ [text]: '/inputs/a' }) }
  return [...places, key, { name: 'value', fill: (_, text) => ({ [path]: text }) }]
}

async function eachOf(texts: readonly string[], atOnce: number, work: (text: string) => Promise<void>): Promise<void> {
  const rest = [...texts]
  const worker = async () => {
    for (let text = rest.pop(); text !== undefined; text = rest.pop()) await work(text)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** What a graph is made of: kinds of nodes, relationships, and names of properties. */
const graphWords: readonly string[] = [
  ...'Entity MetierLock MetierReceipt Mission Task Agent User Artifact Capability Tool Tag Validation Failure'.split(
    ' ',
  ),
  ...relationshipTypes,
  ...'id name status missionID priority runID homeID createdAt updatedAt position key answer at'.split(' '),
  ...'taskID agentID userID artifactID capabilityID toolID tagID validationID failureRecordID failureID'.split(' '),
  ...'description temporalWorkflowID expectedDeliverable resultData notes passed report code message'.split(' '),
  ...'contentType storagePath bytes sha256 ownerEntityID locked isNew version seq digest'.split(' '),
]

/** Those that are in the database and are none of them, as its own catalogue says. */
async function strangers(address: GraphAddress): Promise<string[]> {
  const names = 'file' in address ? namesInFile(address.file) : await namesInNeo4j(address)
  assert.ok(names.length > 10, 'there is something to look at')
  return names.filter((name) => !graphWords.includes(name))
}

function namesInFile(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database
    .prepare(
      'SELECT kind AS name FROM node UNION SELECT type FROM edge UNION SELECT key FROM node, json_each(node.properties)',
    )
    .all()
  database.close()
  return rows.map(({ name }) => String(name))
}

async function namesInNeo4j({ url, user, password }: Exclude<GraphAddress, { file: string }>): Promise<string[]> {
  const driver = neo4j.driver(url, { scheme: 'basic', principal: user, credentials: password })
  const { records } = await driver.executeQuery(
    'CALL db.labels() YIELD label AS name RETURN name UNION CALL db.relationshipTypes() YIELD relationshipType AS name RETURN name UNION CALL db.propertyKeys() YIELD propertyKey AS name RETURN name',
  )
  await driver.close()
  return records.map((record) => String(record.get('name')))
}

function failing(error: Error): GraphStore {
  const fail = () => Promise.reject(error)
  return { read: fail, write: fail, close: async () => {} }
}

export function graphToolsContract(
  name: string,
  addressOf: (t: TestContext) => GraphAddress,
  { skip = false, share = 1 }: { skip?: string | false; share?: number } = {},
): void {
  describe(`the tools of the task graph: ${name}`, { skip }, () => {
    test('each tool answers with each code that it lists, and with no other', async (t) => {
      const address = addressOf(t)
      const ask = asking(t, address)
      const tried = cases(await world(ask))
      assert.deepEqual(Object.keys(tried).sort(), graphTools.map(({ name: tool }) => tool).sort())
      for (const { name: tool, documentation, run } of graphTools) {
        const { ok, ...codes } = tried[tool]!
        for (const [code, args] of Object.entries(codes)) {
          const outcome = await ask(tool, args)
          assert.equal('error' in outcome && outcome.error.code, code, `${tool} ${JSON.stringify(args)}`)
        }
        await must(ask(tool, ok!))
        for (const [code, error] of Object.entries(injected)) {
          const graph = async () => openTaskGraph(failing(error))
          const call = { run: newId(), call: '1', signal: new AbortController().signal }
          const parts = { graph } as unknown as Parameters<typeof run>[1]
          await assert.rejects(run(ok!, parts, call), error, `${tool} ${code}`)
        }
        const stored = tool === 'store_artifact' ? storeFailures : []
        if (stored.length > 0) await failsToStore(run, ok!, address)
        const taken = await whereTaken(tool, ok!, ask, address)
        const listed = Object.keys(documentation.errors).sort()
        assert.deepEqual(listed, [...Object.keys(codes), ...Object.keys(injected), ...stored, ...taken].sort(), tool)
      }
    })

    test('every answer fits the output schema of its tool, and a repeated try answers the same', async (t) => {
      const ask = asking(t, addressOf(t))
      const tried = cases(await world(ask))
      for (const { name: tool, output, effect } of graphTools) {
        const call = { run: newId(), call: '1' }
        const value = await must(ask(tool, tried[tool]!.ok!, call))
        const asInput = { id: tool, name: tool, digest: `${tool} output`, input: output } as Parameters<
          typeof problemOf
        >[0]
        assert.equal(problemOf(asInput, value), null, `${tool} ${JSON.stringify(value)}`)
        if (effect !== 'read') assert.deepEqual(await must(ask(tool, tried[tool]!.ok!, call)), value, tool)
      }
    })

    test('hostile texts in every field are refused or stored as data, and the graph stays whole', async (t) => {
      const address = addressOf(t)
      const ask = asking(t, address)
      const tried = cases(await world(ask))
      const { missionID } = await must(ask('create_mission', { name: 'untouched', description: 'as it was' }))
      const { taskID } = await must(ask('create_task_node', { parentNodeID: missionID!, description: 'as it was' }))
      const before = await must(ask('get_task_details', { taskID: taskID! }))
      let stored = 0
      await eachOf(hostileTexts, 8, async (text) => {
        const named = await ask('create_mission', { name: text, description: text })
        if ('value' in named) stored++
        const described = await ask('create_task_node', { parentNodeID: missionID!, description: text, taskName: text })
        if (!('value' in described)) return
        const { task } = await must(ask('get_task_details', { taskID: described.value.taskID! }))
        assert.deepEqual([(task as JsonObject).name, (task as JsonObject).description], [text, text])
      })
      for (const { name: tool, input, documentation } of builtInTools) {
        const ok = tried[tool]?.ok ?? otherCases[tool]!
        // A script costs a box, and knows nothing of the graph.
        const part = tool === 'execute_script_in_sandbox' && process.env.LONG !== '1' ? share * 10 : share
        for (const [index, place] of stringPlaces(input).entries())
          await eachOf(someOf(part, index), 8, async (text) => {
            const outcome = await ask(tool, place.fill(ok, text))
            if ('value' in outcome) return
            const { code } = outcome.error
            const isMeant = code in documentation.errors && !breakdowns.includes(code)
            assert.ok(isMeant, `${tool} ${place.name} ${JSON.stringify(text)}: ${outcome.error}`)
          })
      }
      assert.ok(stored > hostileTexts.length / 2, 'most are texts like any other')
      assert.deepEqual(await strangers(address), [], 'no text became a kind, a type or a property')
      assert.deepEqual(await must(ask('get_task_details', { taskID: taskID! })), before)
    })
  })
}
