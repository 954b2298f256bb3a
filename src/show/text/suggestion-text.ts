/**
 * A suggestion at a terminal: what would run with which arguments, what is missing, how sure it is,
 * and the command that runs it. The schemas are in the JSON form alone.
 */
import { escapeInvisible, type JsonObject, toText } from '#model'
import { faint, oneLine, strong, warn } from '#show/cli'

type Task = { id: string; tool: string; arguments: JsonObject; dependsOn?: string[] }
type Suggestion = {
  tasks: Task[]
  confidence: number
  rationale: string
  alternatives: string[]
  warnings: string[]
  capability?: { id: string; args: JsonObject; missing: string[] }
}

const argumentsMax = 160

export function suggestionText(suggestion: Suggestion): string {
  const { tasks, confidence, rationale, alternatives, warnings, capability } = suggestion
  const others = alternatives.length === 0 ? [] : [faint(`  or: ${alternatives.map(escapeInvisible).join(', ')}`)]
  return [
    ...(capability === undefined ? tasks.map(taskLine) : [plainLine(capability.id, capability.args)]),
    faint(`  ${escapeInvisible(oneLine(rationale))} Confidence ${confidence}.`),
    ...warnings.map((warning) => warn(`  ${escapeInvisible(warning)}`)),
    ...others,
    ...(tasks.length === 0 ? [] : [`  ${faint(escapeInvisible(commandOf(suggestion)))}`]),
  ].join('\n')
}

function taskLine({ id, tool, arguments: args, dependsOn = [] }: Task): string {
  const after = dependsOn.length === 0 ? '' : faint(` after ${dependsOn.join(', ')}`)
  return `${faint(id)} ${plainLine(tool, args)}${after}`
}

const plainLine = (tool: string, args: JsonObject) =>
  `${strong(escapeInvisible(tool))} ${oneLine(toText(args), argumentsMax)}`

/** As it can be typed; of a capability what is missing stands there to be filled in. */
function commandOf({ tasks, capability }: Suggestion): string {
  if (capability === undefined) return `metier execute --dag - <<< ${quoted(toText({ tasks }))}`
  const open = Object.fromEntries(capability.missing.map((name) => [name, '…']))
  return `metier execute --cap ${capability.id} --args ${quoted(toText({ ...capability.args, ...open }))}`
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
