/** The verbs as a model may call them by its provider's own means; policy judges what they do. */

import type { ModelTool, ToolCall } from '#agent/models'
import {
  AppError,
  type IssuedCall,
  isObject,
  type Json,
  type JsonObject,
  parseCapabilityId,
  programTool,
  toText,
} from '#model'
import { loadEngine } from '#run'
import { prepareProgram } from '#sandbox'

const { checkDag } = await loadEngine()

const text = { type: 'string' }

export const modelTools: ModelTool[] = [
  {
    name: 'discover',
    description: 'Finds tools by what they are for. Search before you write a program.',
    input: { type: 'object', properties: { intent: text, limit: { type: 'integer' } }, required: ['intent'] },
  },
  {
    name: 'execute',
    description:
      'Runs a program that calls tools: implementation { type: "code", code } with the body of an async function in which tool("server:name", args) calls a tool, { type: "dag", tasks }, or { type: "capability", id } with the id of a capability that discover names. `args` is what the program sees as args.',
    input: {
      type: 'object',
      properties: { intent: text, implementation: { type: 'object' }, args: { type: 'object' } },
      required: ['implementation'],
    },
  },
  {
    name: 'result',
    description:
      'Pages through what was left out of an answer: { call: "4", path: "/stdout" } is the first page of that call of this session, with `next` as `offset` the next one. `run` is for results of another run.',
    input: {
      type: 'object',
      properties: { call: text, path: text, offset: { type: 'integer' }, run: text },
    },
  },
]

/** The call that a tool call of the model becomes; throws where it is none. */
export function callOf({ name, args }: ToolCall): IssuedCall {
  if (name === 'discover' || name === 'result') return { tool: `workspace:${name}`, args: toText(args) }
  if (name === 'execute') return programOf(args)
  const allowed_values = modelTools.map((tool) => tool.name)
  throw refused('name', `there is no tool "${name}": only ${allowed_values.join(', ')}`)
}

function programOf(args: Json): IssuedCall {
  const { implementation, args: given = {}, ...rest } = isObject(args) ? (args as JsonObject) : {}
  const unknown = Object.keys(rest).find((name) => name !== 'intent')
  if (unknown !== undefined) throw refused(unknown, 'execute takes intent, implementation and args here')
  const { type, code, tasks, id } = isObject(implementation) ? (implementation as JsonObject) : {}
  const call = { tool: programTool, args: toText(given) }
  if (type === 'code' && typeof code === 'string') {
    prepareProgram(code)
    return { ...call, code }
  }
  if (type === 'dag') return { ...call, tasks: checkDag(tasks) }
  if (type === 'capability' && typeof id === 'string') {
    if (parseCapabilityId(id) === null)
      throw refused('implementation.id', 'a capability is named cap:name or cap:name@2')
    return { ...call, tool: id }
  }
  throw refused(
    'implementation',
    'must be { type: "code", code }, { type: "dag", tasks } or { type: "capability", id }',
  )
}

function refused(param: string, details: string): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot do that: ${details}`, { param, details })
}
