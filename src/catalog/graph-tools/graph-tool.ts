/**
 * A tool of the task graph from one typed source: its documentation, its schemas, its class and the
 * codes that every use of the graph can answer with.
 */
import type { BuiltInTool, Call, Documentation, Parts } from '#catalog/built-in'
import { assert, type ErrorCode, type Json, type JsonObject } from '#model'
import type { Caller, TaskGraph } from '#tasks'

type Parameter = { name: string; schema: JsonObject; text: string; ifOmitted?: string }
type Member = { name: string; schema: JsonObject; text: string; optional?: true }

type ToolSource = Pick<Documentation, 'objective' | 'description' | 'preconditions' | 'postconditions' | 'example'> & {
  name: string
  title: string
  effect: 'read' | 'idempotent'
  parameters: readonly Parameter[]
  returns: readonly Member[]
  errors: Documentation['errors']
}

/** A tool whose schemas, class and text come from one source. */
export function toolFrom(source: ToolSource, run: BuiltInTool['run']): BuiltInTool {
  const { name, title, effect, parameters, returns, ...texts } = source
  const documentation: Documentation = {
    ...texts,
    parameters: parameters.map(({ schema, ...parameter }) => ({ ...parameter, type: typeOf(schema) })),
    returns: returns.map(({ name: member, schema, text }) => ({ name: member, type: typeOf(schema), text })),
    idempotence: idempotence[effect],
  }
  return {
    name,
    documentation,
    input: objectOf(
      parameters,
      parameters.filter(({ ifOmitted }) => ifOmitted === undefined),
    ),
    output: objectOf(
      returns,
      returns.filter(({ optional }) => !optional),
    ),
    annotations: { title, readOnlyHint: effect === 'read', idempotentHint: true, openWorldHint: false },
    effect,
    run,
  }
}

type GraphTool = ToolSource & {
  run(graph: TaskGraph, given: JsonObject, caller: Caller, parts: Parts): Promise<object>
}

export function graphTool({ run, errors, ...source }: GraphTool): BuiltInTool {
  return toolFrom(
    { ...source, errors: { ...errors, ...graphErrors } },
    async (given, parts, call) => (await run(await parts.graph(), given, callerOf(call), parts)) as Json,
  )
}

/** What can go wrong with any use of the graph, whatever is asked of it. */
const graphErrors: Partial<Record<ErrorCode, string>> = {
  PERMISSION_DENIED: 'the database refuses the user of the configuration.',
  NEO4J_CONNECTION_ERROR: 'the database of the task graph cannot be reached; try again.',
  NEO4J_TRANSACTION_ERROR: 'other writers held the graph for too long, or the transaction was broken off; try again.',
  NEO4J_QUERY_ERROR: 'the database refused a statement.',
  CONFIG_INVALID: 'the database belongs to a newer version of Métier.',
  TOOL_INTERNAL_ERROR: 'something that nobody expected.',
}

const idempotence = {
  read: 'Yes: it changes nothing.',
  idempotent:
    'Yes for one call: its answer is stored together with what it writes, and a repeated try answers the same. A new call is a new request.',
}

/** Every call of a run has both; a try without them could not be told from another. */
function callerOf({ run, call, signal }: Call): Caller {
  assert(run !== undefined && call !== undefined, 'a tool that writes is called by a run')
  return { run, call, signal }
}

function objectOf(members: readonly { name: string; schema: JsonObject }[], required: readonly { name: string }[]) {
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
    required: required.map(({ name }) => name),
    additionalProperties: false,
  }
}

function typeOf({ type, items }: JsonObject): string {
  if (Array.isArray(type)) return type.join(' or ')
  return type === 'array' ? `list of ${typeOf(items as JsonObject)}` : String(type)
}
