/** What a tool says of itself, field by field, and how much each field counts. */
import { isObject, limits, type Tool } from '#model'

type SearchField = {
  name: string
  weight: number
  /**
   * How much a long text is held against its words, 0 to 1, and how many forms of words a text of
   * middling length has.
   */
  length: number
  middling: number
  textOf(tool: Tool): string
}

/**
 * Strongest first; a long description is held against its words more than a long name. What is long
 * is fixed, not measured against the others: so a tool is as strong in a word whatever other tools
 * there are, and need not be looked at again when they change.
 */
export const searchFields: readonly SearchField[] = [
  { name: 'name', weight: 2.2, length: 0.3, middling: 6, textOf: ({ name }) => name },
  { name: 'description', weight: 1.1, length: 0.6, middling: 12, textOf: ({ description }) => description },
  { name: 'parameters', weight: 0.5, length: 0.6, middling: 7, textOf: (tool) => parametersOf(tool).join(' ') },
  { name: 'parameters', weight: 0.4, length: 0.6, middling: 30, textOf: (tool) => parameterTextsOf(tool).join(' ') },
  { name: 'result', weight: 0.3, length: 0.6, middling: 10, textOf: (tool) => resultsOf(tool).join(' ') },
  { name: 'server', weight: 0.3, length: 0, middling: 2, textOf: ({ server }) => server },
]

/** Whether both have the same searched text. */
export function sameSearchText(left: Tool, right: Tool): boolean {
  if (left === right) return true
  if (left.digest !== right.digest || left.id !== right.id) return false
  return left.observed === right.observed || JSON.stringify(left.observed) === JSON.stringify(right.observed)
}

/** The names that its result has, by its own word or as they were seen. */
function resultsOf({ output, observed }: Tool): string[] {
  return namesIn(output ?? observed, limits.shapeDepthMax)
}

function namesIn(schema: unknown, depth: number): string[] {
  if (!isObject(schema) || depth === 0) return []
  const { properties, items } = schema
  const members = Object.entries(isObject(properties) ? properties : {})
  return [...members.flatMap(([name, member]) => [name, ...namesIn(member, depth - 1)]), ...namesIn(items, depth - 1)]
}

function parametersOf({ input }: Tool): string[] {
  return isObject(input.properties) ? Object.keys(input.properties) : []
}

function parameterTextsOf({ input }: Tool): string[] {
  const schemas = isObject(input.properties) ? Object.values(input.properties) : []
  return schemas.flatMap((schema) =>
    isObject(schema) && typeof schema.description === 'string' ? [schema.description] : [],
  )
}
