/**
 * Tools as TypeScript declarations: what an editor needs to check and complete a program before it
 * is executed.
 */
import { escapeInvisible, type Tool } from '#model'
import { declaredType } from './signature.ts'

const preamble = `// What a program given to "metier execute" can call. Written by "metier types"; run it again when servers change.

/** Thrown by a tool that failed, was refused, or is not there. */
declare class ToolError extends Error {
  code: string
  /** \`server:name\` */
  tool: string
  context: Record<string, unknown>
}

/** What was given to execute as "args". */
declare const args: any
declare function sleep(ms: number): Promise<void>
`

export function declarationsOf(tools: readonly Tool[]): string {
  const servers = Map.groupBy(tools, ({ server }) => server)
  const blocks = [...servers].map(([server, own]) => `  ${key(server)}: {\n${own.map(memberOf).join('\n')}\n  }`)
  const overloads = tools.map(
    (tool) => `declare function tool(id: ${JSON.stringify(tool.id)}, ${parameterOf(tool)}): ${promiseOf(tool)}`,
  )
  const anyTool = 'declare function tool(id: string, args?: Record<string, unknown>): Promise<any>'
  return [preamble, 'declare const mcp: {', ...blocks, '}', '', ...overloads, anyTool, ''].join('\n')
}

function memberOf(tool: Tool): string {
  return `${commentOf(tool)}\n    ${key(tool.name)}(${parameterOf(tool)}): ${promiseOf(tool)}`
}

/** A tool without required parameters may be called with nothing. */
function parameterOf({ input }: Tool): string {
  const isOptional = !Array.isArray(input.required) || input.required.length === 0
  return `args${isOptional ? '?' : ''}: ${declaredType(input)}`
}

/** What is not known of a result is \`any\`: a program may look into it all the same. */
function promiseOf({ output, observed }: Tool): string {
  const schema = output ?? observed
  return `Promise<${schema === undefined ? 'any' : declaredType(schema)}>`
}

/** A server's text stays inside its comment: what would end it is broken up. */
function commentOf({ description, effect, output, observed }: Tool): string {
  const source = output !== undefined || observed === undefined ? '' : ', result as observed so far'
  const text = description
    .trim()
    .split('\n')
    .map((line) => escapeInvisible(line).replaceAll('*/', '* /').trimEnd())
  const lines = [...text, `Effect: ${effect}${source}.`].filter((line) => line !== '')
  return ['    /**', ...lines.map((line) => `     * ${line}`), '     */'].join('\n')
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}
