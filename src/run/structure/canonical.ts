/**
 * A program without what does not matter: names of variables, formatting and comments. Two programs
 * that do the same by the same steps have one canonical text; literals stand apart, so that
 * programs that differ only in them have one shape.
 */
import type { AnyNode } from 'acorn'
import type { Json } from '#model'
import { keyOf, readScopes, type Scopes } from './scopes.ts'
import { readSyntax } from './syntax.ts'

/** A value written into the program, where it stands in its text, and the key it is given under. */
type ProgramLiteral = { value: Json; start: number; end: number; key: string | null }

export type CanonicalProgram = {
  /** Equal for programs that differ in names, formatting and comments only. */
  text: string
  /** The same with a hole for every literal that may vary. */
  shape: string
  literals: ProgramLiteral[]
  comments: { start: number; end: number }[]
}

const ignored = new Set(['type', 'start', 'end', 'raw', 'shorthand', 'directive', 'sourceType', 'computed'])

/** Globals whose members are tools and capabilities. */
const namespaces = new Set(['mcp', 'cap'])

type Identifier = Extract<AnyNode, { type: 'Identifier' }>

/** `source` is a prepared program; throws what acorn throws where it cannot be read. */
export function canonicalOf(source: string): CanonicalProgram {
  const { root, comments } = readSyntax(source)
  const writer = new CanonicalWriter(readScopes(root).variableOf)
  writer.visit(root, { key: null, isFixed: false })
  const { text, shape, literals } = writer
  const places = comments.map(({ start, end }) => ({ start, end }))
  return { text: text.join(''), shape: shape.join(''), literals, comments: places }
}

/** `key` is what a literal is given under; one that `isFixed` is structure and no value. */
type Place = { key: string | null; isFixed: boolean }

class CanonicalWriter {
  readonly text: string[] = []
  readonly shape: string[] = []
  readonly literals: ProgramLiteral[] = []
  readonly #variableOf: Scopes['variableOf']
  readonly #numbers = new Map<object | string, number>()

  constructor(variableOf: Scopes['variableOf']) {
    this.#variableOf = variableOf
  }

  visit(node: AnyNode, place: Place): void {
    if (node.type === 'Identifier') return this.#write(this.#nameOf(node))
    const literal = literalOf(node)
    if (literal !== undefined) return this.#literal(literal, node, place)
    this.#write(`(${node.type}`)
    for (const member of Object.keys(node)
      .filter((one) => !ignored.has(one))
      .sort()) {
      this.#write(` ${member}:`)
      const value: unknown = node[member as keyof AnyNode]
      const name = this.#fixedName(node, member)
      if (name !== null) this.#write(name)
      else this.#visitValue(braced(node, member, value), this.#placeOf(node, member, place))
    }
    this.#write(')')
  }

  #write(part: string, hole = part): void {
    this.text.push(part)
    this.shape.push(hole)
  }

  #literal(value: Json, { start, end }: AnyNode, { key, isFixed }: Place): void {
    if (isFixed || value === null) return this.#write(JSON.stringify(value))
    this.literals.push({ value, start, end, key })
    this.#write(JSON.stringify(value), '?')
  }

  #nameOf(node: Identifier): string {
    const variable = this.#variableOf(node)
    return variable === null ? node.name : `$${this.#numberOf(variable)}`
  }

  #numberOf(named: object | string): number {
    const number = this.#numbers.get(named) ?? this.#numbers.size
    this.#numbers.set(named, number)
    return number
  }

  /** Names of labels, members, keys and tools: as they are meant, however they are written. */
  #fixedName(node: AnyNode, member: string): string | null {
    if (member === 'label' && 'label' in node && node.label) return `$${this.#numberOf(`label ${node.label.name}`)}`
    if (member === 'kind' && node.type === 'VariableDeclaration') return node.kind === 'var' ? 'var' : 'let'
    if (member === 'property' && node.type === 'MemberExpression') {
      const key = node.computed && !this.#isNamespace(node.object) ? null : keyOf(node)
      return key === null ? null : JSON.stringify(key)
    }
    // A tag reads the text as it was written.
    if (member === 'quasi' && node.type === 'TaggedTemplateExpression' && node.quasi.expressions.length === 0)
      return JSON.stringify(node.quasi.quasis[0]!.value.raw)
    if (member === 'key' && 'key' in node && 'computed' in node && !node.computed) return plainKey(node.key)
    return null
  }

  /** `mcp`, `cap`, and `mcp.server`: which tool is meant is no value. */
  #isNamespace(node: AnyNode): boolean {
    if (node.type === 'MemberExpression') return node.object.type === 'Identifier' && this.#isGlobal(node.object, 'mcp')
    return node.type === 'Identifier' && namespaces.has(node.name) && this.#isGlobal(node, node.name)
  }

  #isGlobal(node: Identifier, name: string): boolean {
    return node.name === name && this.#variableOf(node) === null
  }

  #placeOf(node: AnyNode, member: string, { key }: Place): Place {
    const below = node.type === 'Property' && member === 'value' ? keyOf(node) : key
    const isDirective = 'directive' in node && node.directive !== undefined
    return { key: below, isFixed: isDirective || (node.type === 'CallExpression' && this.#namesTool(node, member)) }
  }

  /** `tool("server:name", …)`: its first argument, which is the first that is visited below. */
  #namesTool({ callee }: Extract<AnyNode, { type: 'CallExpression' }>, member: string): boolean {
    return member === 'arguments' && callee.type === 'Identifier' && this.#isGlobal(callee, 'tool')
  }

  #visitValue(value: unknown, place: Place): void {
    if (Array.isArray(value)) {
      // Of a list with something fixed, that is the first item.
      for (const [at, item] of value.filter((one) => one?.type !== 'EmptyStatement').entries())
        this.#visitValue(item, { ...place, isFixed: place.isFixed && at === 0 })
    } else if (typeof value === 'object' && value !== null && 'type' in value) this.#visitNode(value as AnyNode, place)
    else this.#write(plainText(value))
  }

  /** What is fixed is a literal: a variable there keeps its number. */
  #visitNode(node: AnyNode, place: Place): void {
    this.visit(node, { ...place, isFixed: place.isFixed && literalOf(node) !== undefined })
  }
}

/** A single statement below `if` or a loop, with or without braces. */
function braced(node: AnyNode, member: string, value: unknown): unknown {
  const isBody = member === 'consequent' || member === 'alternate' || member === 'body'
  const below = value as AnyNode | null
  if (!isBody || below === null || !statements.has(node.type) || below.type === 'BlockStatement') return value
  if (node.type === 'IfStatement' && member === 'alternate' && below.type === 'IfStatement') return value
  return { type: 'BlockStatement', start: below.start, end: below.end, body: [below] }
}

const statements = new Set([
  'IfStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'WhileStatement',
  'DoWhileStatement',
])

function plainKey(key: AnyNode): string | null {
  if (key.type === 'Identifier') return JSON.stringify(key.name)
  return key.type === 'Literal' ? JSON.stringify(String(key.value)) : null
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
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0) return node.quasis[0]!.value.cooked ?? undefined
  if (node.type !== 'Literal' || node.regex || node.bigint) return undefined
  return node.value as Json
}
