/** Holds what a model answered against a schema, in words that the model can act on. */
import { problemOf } from '#catalog'
import { isObject, type Json, type JsonObject, sha256, type Tool } from '#model'

/** Null where it fits; else the path of the first problem, and what is wrong there. */
export function problemOfAnswer(schema: JsonObject, value: Json): string | null {
  if (!isObject(value)) return 'the answer must be a JSON object'
  const error = problemOf(asTool(schema), value)
  if (error === null) return null
  const { param, details } = error.context
  const place = param === 'arguments' ? 'the answer' : `"${param}"`
  return error.code === 'MISSING_REQUIRED_PARAM' ? `${place} is missing` : `${place} ${details}`
}

/** The checker of arguments knows a schema as the input of a tool. */
function asTool(input: JsonObject): Tool {
  const digest = `answer ${sha256(JSON.stringify(input))}`
  const names = { id: 'model:answer', server: 'model', name: 'answer', description: '' }
  return { ...names, input, annotations: {}, effect: 'read', effectFrom: 'built-in', digest }
}
