/**
 * A program without what does not matter: names of variables, formatting and comments. Two programs
 * that do the same by the same steps have one canonical text; literals stand apart, so that
 * programs that differ only in them have one shape.
 */
import type { AnyNode } from 'acorn'
import type { Json } from '#model'
import { keyOf, readScopes } from './scopes.ts'
import { readSyntax } from './syntax.ts'

/** A value written into the program, where it stands in its text, and the key it is given under. */
type ProgramLiteral = { value: Json; start: number; end: number; key: string | null }

export type CanonicalProgram = {
  /** Equal for programs that differ in names, formatting and comments only. */
  text: string
  /** The same with a hole for every literal that may vary. */
  shape: string
  literals: ProgramLiteral[]
}

const ignored = new Set(['type', 'start', 'end', 'raw', 'shorthand', 'directive', 'sourceType'])

/** `source` is a prepared program; throws what acorn throws where it cannot be read. */
export function canonicalOf(source: string): CanonicalProgram {
  const { root } = readSyntax(source)
  const { variableOf } = readScopes(root)
  const numbers = new Map<object, number>()
  const literals: ProgramLiteral[] = []
  const [text, shape]: [string[], string[]] = [[], []]
  const write = (part: string, hole = part) => {
    text.push(part)
    shape.push(hole)
  }
  const name = (node: Extract<AnyNode, { type: 'Identifier' }>) => {
    const variable = variableOf(node)
    if (variable === null) return node.name
    if (!numbers.has(variable)) numbers.set(variable, numbers.size)
    return `$${numbers.get(variable)}`
  }
  const visit = (node: AnyNode, key: string | null, isFixed: boolean): void => {
    if (node.type === 'Identifier') return write(isFixed ? node.name : name(node))
    const literal = literalOf(node)
    if (literal !== undefined) {
      if (isFixed || literal === null) return write(JSON.stringify(literal))
      literals.push({ value: literal, start: node.start, end: node.end, key })
      return write(JSON.stringify(literal), '?')
    }
    write(`(${node.type}`)
    const isDirective = 'directive' in node && node.directive !== undefined
    for (const member of Object.keys(node)
      .filter((one) => !ignored.has(one))
      .sort()) {
      const below = node.type === 'Property' && member === 'value' ? keyOf(node) : key
      // What names a member or a property is part of the program's structure, not a value.
      const isName = member === 'property' || (member === 'key' && node.type === 'Property')
      write(` ${member}:`)
      const isComputed = 'computed' in node && node.computed === true
      visitValue(node[member as keyof AnyNode], below, (isName && !isComputed) || isDirective)
    }
    write(')')
  }
  const visitValue = (value: unknown, key: string | null, isFixed: boolean): void => {
    if (Array.isArray(value)) {
      for (const item of value.filter((one) => one?.type !== 'EmptyStatement')) visitValue(item, key, isFixed)
    } else if (typeof value === 'object' && value !== null && 'type' in value) visit(value as AnyNode, key, isFixed)
    else write(plainText(value))
  }
  visit(root, null, false)
  return { text: text.join(''), shape: shape.join(''), literals }
}

/** Of a template's part and of a regular expression what it means, of the rest what it is. */
function plainText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'cooked' in value) return JSON.stringify(value.cooked)
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? 'null')
}

/** Texts, numbers and truths, also negative ones; undefined for every other node. */
function literalOf(node: AnyNode): Json | undefined {
  if (node.type === 'UnaryExpression' && node.operator === '-') {
    const inner = literalOf(node.argument)
    return typeof inner === 'number' ? -inner : undefined
  }
  if (node.type !== 'Literal' || node.regex || node.bigint) return undefined
  return node.value as Json
}
