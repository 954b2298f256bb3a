/**
 * What a name or an expression stands for, where the text says it: the tools, a function of the
 * program, a fixed text.
 */
import type { AnyNode } from 'acorn'
import { limits } from '#model'
import { type Definition, keyOf, type Scopes } from './scopes.ts'
import { bare, isFunction } from './syntax.ts'

/** Lists hold what it may be; null among them is "something else as well". */
type Meaning =
  | { kind: 'mcp' | 'cap' | 'tool function' }
  | { kind: 'server'; names: (string | null)[] }
  | { kind: 'tool'; names: (string | null)[] }
  | { kind: 'text'; names: (string | null)[] }
  | { kind: 'function'; node: AnyNode }
  | { kind: 'global'; name: string }

const globals: Record<string, Meaning> = {
  mcp: { kind: 'mcp' },
  cap: { kind: 'cap' },
  tool: { kind: 'tool function' },
}

export class NameResolver {
  readonly #scopes: Scopes
  /** By variable or by expression, then by path. */
  readonly #known = new Map<object, Map<string, Meaning | null>>()
  #steps = 0

  constructor(scopes: Scopes) {
    this.#scopes = scopes
  }

  get isSpent(): boolean {
    return this.#steps > limits.structureStepsMax
  }

  /** Of the value of `node` at `path`; null where the text does not say. */
  of(node: AnyNode, path: string[] = []): Meaning | null {
    const here = bare(node)
    const owner = (here.type === 'Identifier' && this.#scopes.variableOf(here)) || here
    const key = path.join('\0')
    const known = this.#known.get(owner)?.get(key)
    if (known !== undefined) return known
    this.#steps += 1
    if (this.isSpent || path.length > limits.structurePathMax) return null
    if (!this.#known.has(owner)) this.#known.set(owner, new Map())
    // A meaning that depends on itself has none.
    this.#known.get(owner)!.set(key, null)
    const found = this.#read(here, path)
    this.#known.get(owner)!.set(key, found)
    return found
  }

  /** The texts that an expression may be; null among them where it may be others. */
  texts(node: AnyNode): (string | null)[] {
    const meaning = this.of(node)
    return meaning?.kind === 'text' ? meaning.names : [null]
  }

  #read(node: AnyNode, path: string[]): Meaning | null {
    switch (node.type) {
      case 'Identifier':
        return this.#ofName(node, path)
      case 'MemberExpression':
        return this.#ofMember(node, path)
      case 'ObjectExpression': {
        const member = node.properties.findLast((property) => keyOf(property) === path[0])
        return member?.type === 'Property' ? this.of(member.value, path.slice(1)) : null
      }
      case 'ArrayExpression':
        return this.#ofItems(node, path)
      case 'ConditionalExpression':
        return union([this.of(node.consequent, path), this.of(node.alternate, path)])
      case 'LogicalExpression':
        return union([this.of(node.left, path), this.of(node.right, path)])
      default:
        return path.length > 0 ? null : this.#ofValue(node)
    }
  }

  #ofValue(node: AnyNode): Meaning | null {
    if (isFunction(node)) return { kind: 'function', node }
    if (node.type === 'Literal') return typeof node.value === 'string' ? text([node.value]) : null
    if (node.type === 'BinaryExpression' && node.operator === '+')
      return joined([this.texts(node.left), this.texts(node.right)])
    if (node.type !== 'TemplateLiteral') return null
    const parts = node.quasis.flatMap(({ value }, index) => {
      const expression = node.expressions[index]
      return [[value.cooked ?? null], ...(expression === undefined ? [] : [this.texts(expression)])]
    })
    return joined(parts)
  }

  #ofName(node: Extract<AnyNode, { type: 'Identifier' }>, path: string[]): Meaning | null {
    const variable = this.#scopes.variableOf(node)
    if (variable === null) return walk(globals[node.name] ?? { kind: 'global', name: node.name }, path)
    const { definitions } = variable
    if (definitions.length === 0 || definitions.length > limits.structureOriginsMax) return null
    return union(definitions.map((definition) => this.#ofDefinition(definition, path)))
  }

  #ofDefinition({ from, path, under, exact }: Definition, wanted: string[]): Meaning | null {
    const fits = exact && under.every((key, index) => key === '*' || wanted[index] === '*' || key === wanted[index])
    return fits ? this.of(from, [...path, ...wanted.slice(under.length)]) : null
  }

  #ofMember(node: Extract<AnyNode, { type: 'MemberExpression' }>, path: string[]): Meaning | null {
    const key = keyOf(node)
    if (key !== null) return this.of(node.object, [key, ...path])
    const names = this.texts(node.property as AnyNode)
    const whole = this.of(node.object)
    if (whole !== null && whole.kind !== 'text' && whole.kind !== 'function') {
      return walk(union(names.map((name) => step(whole, name))), path)
    }
    return union(names.map((name) => (name === null ? null : this.of(node.object, [name, ...path]))))
  }

  #ofItems({ elements }: Extract<AnyNode, { type: 'ArrayExpression' }>, [index, ...rest]: string[]): Meaning | null {
    if (index === undefined) return null
    const picked = index === '*' ? elements : [elements[Number(index)]]
    return union(picked.map((item) => (!item || item.type === 'SpreadElement' ? null : this.of(item, rest))))
  }
}

function walk(meaning: Meaning | null, path: string[]): Meaning | null {
  return path.reduce<Meaning | null>((here, key) => (here === null ? null : step(here, key)), meaning)
}

/**
 * A member of the tools, of a server or of the capabilities; of anything else a member means
 * nothing.
 */
function step(meaning: Meaning, key: string | null): Meaning | null {
  const name = key === '*' ? null : key
  switch (meaning.kind) {
    case 'mcp':
      return { kind: 'server', names: [name] }
    case 'cap':
      return { kind: 'tool', names: [name === null ? null : `cap:${name}`] }
    case 'server':
      return {
        kind: 'tool',
        names: meaning.names.map((server) => (server === null || name === null ? null : `${server}:${name}`)),
      }
    default:
      return null
  }
}

function text(names: (string | null)[]): Meaning {
  return { kind: 'text', names }
}

/** Every combination, as long as they are few. */
function joined(parts: (string | null)[][]): Meaning | null {
  const count = parts.reduce((product, { length }) => product * length, 1)
  if (count > limits.structureOriginsMax || parts.some((names) => names.includes(null))) return null
  return text(parts.reduce((left, right) => left.flatMap((a) => right.map((b) => `${a}${b}`)), ['']))
}

/**
 * What may be one thing or the other: of names all of them, of anything else only what is surely
 * the same.
 */
function union(meanings: (Meaning | null)[]): Meaning | null {
  const known = meanings.filter((meaning) => meaning !== null)
  const [first] = known
  if (first === undefined) return null
  const alike = known.filter(({ kind }) => kind === first.kind)
  const isAll = alike.length === meanings.length
  if (!('names' in first)) {
    const isOne = known.length === 1 || (first.kind !== 'function' && first.kind !== 'global')
    return isAll && isOne ? first : null
  }
  const names = new Set((alike as (typeof first)[]).flatMap((meaning) => meaning.names))
  if (!isAll) names.add(null)
  return names.size > limits.structureOriginsMax ? { ...first, names: [null] } : { ...first, names: [...names] }
}
