/**
 * A graph of tasks for a set of tools: what feeds what by observed flows, else by what the tools
 * take and give; the other arguments from the words of the intent. What remains open is named.
 */

import { providesOf, shapeOf } from '#learn/fields'
import { bindArguments } from '#learn/intents'
import { type DagTask, isObject, type Json, type JsonObject, type Tool } from '#model'

type FlowEdge = {
  from: string
  to: string
  type: string
  count: number
  fields?: readonly { from: string; to: string; count: number }[]
}
type Past = (tool: string) => { intent: string; args: Json }[]

/** Paths are JSON Pointers, the input a member of the consumer's arguments. */
type Binding = { from: string; path: string; to: string; input: string; trust: number; explanation: string }

type SuggestedGraph = {
  tasks: DagTask[]
  dependencyPaths: { from: string; to: string; explanation: string }[]
  /** Required arguments that nothing fills: `t2.amount`. */
  missing: string[]
}

export function suggestGraph(
  intent: string,
  tools: readonly Tool[],
  edges: readonly FlowEdge[],
  past: Past,
  given: JsonObject = {},
): SuggestedGraph {
  const bindings = chooseBindings([...observedBindings(tools, edges), ...declaredBindings(intent, tools)])
  const ordered = inOrder(tools, bindings)
  const ids = new Map(ordered.map(({ id }, at) => [id, `t${at + 1}`]))
  const missing: string[] = []
  const tasks = ordered.map((tool): DagTask => {
    const own = bindings.filter(({ to }) => to === tool.id)
    const id = ids.get(tool.id)!
    const bound = Object.fromEntries(
      own.map(({ from, path, input }) => [input, { $from: ids.get(from)!, ...(path === '' ? {} : { path }) }]),
    )
    const { args } = bindArguments(intent, tool.input, past(tool.id), { ...ownOf(tool, given), ...bound })
    const { required = [] } = tool.input
    for (const name of Array.isArray(required) ? required : [])
      if (!Object.hasOwn(args, String(name))) missing.push(`${id}.${name}`)
    const dependsOn = [...new Set(own.map(({ from }) => ids.get(from)!))]
    return { id, tool: tool.id, arguments: args, ...(dependsOn.length === 0 ? {} : { dependsOn }) }
  })
  const dependencyPaths = bindings.map(({ from, to, explanation }) => ({ from, to, explanation }))
  return { tasks, dependencyPaths, missing }
}

/** What the asker gave that the tool takes. */
function ownOf({ input }: Tool, given: JsonObject): JsonObject {
  const names = Object.keys(isObject(input.properties) ? input.properties : {})
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(given, name) ? [[name, given[name]!]] : [])))
}

/** Of flows that were seen, those that end in a whole argument. */
function observedBindings(tools: readonly Tool[], edges: readonly FlowEdge[]): Binding[] {
  const known = new Set(tools.map(({ id }) => id))
  const among = edges.filter(({ from, to, type }) => type === 'dependency' && known.has(from) && known.has(to))
  return among.flatMap(({ from, to, fields = [] }) =>
    fields.flatMap(({ from: path, to: pointer, count }): Binding[] => {
      const input = pointer.replace(/^\//, '')
      if (input === '' || input.includes('/')) return []
      const explanation = `${from} ${path || 'result'} → ${to} ${input} (seen ${count}×)`
      return [{ from, path, to, input, trust: 1 + count, explanation }]
    }),
  )
}

function declaredBindings(intent: string, tools: readonly Tool[]): Binding[] {
  return providesOf(tools.map(shapeOf), { intent }).flatMap(({ from, to, fields }) =>
    fields.map((field): Binding => {
      const explanation = `${from} ${field.from} → ${to} ${field.to} (by their schemas)`
      return { from, path: `/${field.from}`, to, input: field.to, trust: field.confidence, explanation }
    }),
  )
}

/** The surest first; no argument is fed twice, and nothing feeds itself through others. */
function chooseBindings(bindings: readonly Binding[]): Binding[] {
  const fed = new Set<string>()
  const after = new Map<string, Set<string>>()
  const reaches = (from: string, to: string): boolean =>
    from === to || [...(after.get(from) ?? [])].some((next) => reaches(next, to))
  return [...bindings]
    .sort((a, b) => b.trust - a.trust)
    .filter(({ from, to, input }) => {
      if (fed.has(`${to} ${input}`) || reaches(to, from)) return false
      fed.add(`${to} ${input}`)
      after.set(from, (after.get(from) ?? new Set()).add(to))
      return true
    })
}

/** Producers before consumers, else as they came. */
function inOrder(tools: readonly Tool[], bindings: readonly Binding[]): Tool[] {
  const ordered: Tool[] = []
  const rest = [...tools]
  while (rest.length > 0) {
    const isReady = ({ id }: Tool) => !bindings.some(({ from, to }) => to === id && rest.some((one) => one.id === from))
    ordered.push(...rest.splice(Math.max(0, rest.findIndex(isReady)), 1))
  }
  return ordered
}

export type ToolSchema = {
  description: string
  inputSchema: JsonObject
  requiredInputs: string[]
  optionalInputs?: string[]
  outputSchema?: JsonObject
  examples?: { description: string; input: Json; output?: Json }[]
}

/** What an agent needs to fill in a task; examples come from the record, without secrets. */
export function toolSchemaOf(
  { description, input, observed, output = observed }: Tool,
  examples: readonly { input: Json; output: Json; description: string }[],
): ToolSchema {
  const required = (Array.isArray(input.required) ? input.required : []).map(String)
  const optional = Object.keys(isObject(input.properties) ? input.properties : {}).filter(
    (name) => !required.includes(name),
  )
  return {
    description,
    inputSchema: input,
    requiredInputs: required,
    ...(optional.length === 0 ? {} : { optionalInputs: optional }),
    ...(output === undefined ? {} : { outputSchema: output }),
    ...(examples.length === 0 ? {} : { examples: [...examples] }),
  }
}
