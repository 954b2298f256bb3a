/**
 * A pure operation as a task of a graph: code that needs no approval, and may fail alone where
 * nothing depends on it.
 */
import { parseExpressionAt } from 'acorn'
import { type DagTask, isMethod, operationOf } from '#model'

export function isOperation({ tool }: Pick<DagTask, 'tool'>): boolean {
  return tool?.startsWith('code:') === true
}

/**
 * An expression is the body that returns it; without code it is the operation itself, of
 * `args.input` with `args.args`.
 */
export function operationCode({ tool, code }: DagTask): string {
  if (code !== undefined) return isExpression(code) ? `return (${code}\n)` : code
  const operation = operationOf(tool!)!
  const given = '...(args.args ?? [])'
  if (isMethod(operation)) return `return args.input.${operation.name}(${given})`
  return `return ${operation.owners[0]}.${operation.name}(args.input, ${given})`
}

function isExpression(code: string): boolean {
  try {
    const { end } = parseExpressionAt(code, 0, { ecmaVersion: 'latest', allowAwaitOutsideFunction: true })
    return /^\s*$/.test(code.slice(end))
  } catch {
    return false
  }
}
