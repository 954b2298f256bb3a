/** The syntax tree of a program: read within bounds, with places as its author counts them. */
import { type AnyNode, type Comment, parse } from 'acorn'
import { limits } from '#model'

export type Syntax = {
  root: AnyNode
  comments: Comment[]
  /**
   * Of a position in the text; the wrapper stands on a line of its own above the program's first.
   */
  placeOf(at: number): { line: number; column: number }
  textOf(node: AnyNode): string
}

/**
 * `source` is a prepared program: types stripped, wrapped, every character in its place. Throws
 * what acorn throws.
 */
export function readSyntax(source: string): Syntax {
  const comments: Comment[] = []
  const root = parse(source, { ecmaVersion: 'latest', onComment: comments })
  const starts = [0]
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  const placeOf = (at: number) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= at) low = middle
      else high = middle - 1
    }
    return { line: low, column: at - starts[low]! + 1 }
  }
  const textOf = ({ start, end }: AnyNode) =>
    source
      .slice(start, Math.min(end, start + limits.structureTextMax))
      .replace(/\s+/g, ' ')
      .trim()
  return { root, comments, placeOf, textOf }
}

/** Visits the nodes directly below, in the order of the text. */
export function eachChild(node: AnyNode, visit: (child: AnyNode) => void): void {
  for (const key in node) {
    const value: unknown = node[key as keyof AnyNode]
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) visit(item)
    } else if (isNode(value)) visit(value)
  }
}

export function childrenOf(node: AnyNode): AnyNode[] {
  const found: AnyNode[] = []
  eachChild(node, (child) => found.push(child))
  return found
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && typeof (value as AnyNode).type === 'string'
}

export function isFunction(node: AnyNode): node is Extract<AnyNode, { params: unknown }> {
  return (
    node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration'
  )
}

/** Without what changes nothing about the value: parentheses of a chain, and waiting for it. */
export function bare(node: AnyNode): AnyNode {
  let here = node
  while (
    here.type === 'AwaitExpression' ||
    here.type === 'ChainExpression' ||
    here.type === 'ParenthesizedExpression'
  ) {
    here = here.type === 'AwaitExpression' ? here.argument : here.expression
  }
  return here
}
