/**
 * Where a value comes from: followed through variables, members, functions and operations, back to
 * literals, arguments and calls.
 */
import type { AnyNode } from 'acorn'
import { type Json, limits } from '#model'
import type { NameResolver } from './resolve-names.ts'
import { type Definition, keyOf, type Scopes } from './scopes.ts'
import { bare, childrenOf, eachChild, isFunction } from './syntax.ts'

/** As `Source`, with the call itself and the keys of its path. */
export type Origin = { exact: boolean; path: string[] } & (
  | { kind: 'literal'; value: Json; at: number }
  | { kind: 'args' }
  | { kind: 'call'; call: AnyNode }
)

/** Give on some of the members of a list, as they are. */
const keepsItems = new Set([
  'filter',
  'slice',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
  'concat',
  'flat',
  'from',
  'values',
])
const givesItem = new Set(['find', 'findLast', 'at', 'pop', 'shift'])
const maps = new Set(['map', 'flatMap'])

export class Origins {
  readonly #scopes: Scopes
  readonly #meanings: NameResolver
  /** By variable or by expression, then by path. */
  readonly #known = new Map<object, Map<string, Origin[]>>()
  readonly #returns = new Map<AnyNode, AnyNode[]>()
  #steps = 0
  #isLost = false

  constructor(scopes: Scopes, meanings: NameResolver) {
    this.#scopes = scopes
    this.#meanings = meanings
  }

  /** More than the bounds let us follow. */
  get isSpent(): boolean {
    return this.#isLost || this.#steps > limits.structureStepsMax
  }

  /** Of the value of `node` at `path`. */
  of(node: AnyNode, path: string[] = []): Origin[] {
    const here = bare(node)
    const owner = (here.type === 'Identifier' && this.#scopes.variableOf(here)) || here
    const key = path.join('\0')
    const known = this.#known.get(owner)?.get(key)
    if (known !== undefined) return known
    this.#steps += 1
    if (this.#steps > limits.structureStepsMax || path.length > limits.structurePathMax) return []
    if (!this.#known.has(owner)) this.#known.set(owner, new Map())
    // What depends on itself adds nothing of its own.
    this.#known.get(owner)!.set(key, [])
    const found = different(this.#read(here, path))
    this.#known.get(owner)!.set(key, found)
    return found
  }

  /**
   * What was written for it: the whole first, then what was put under its members; nothing where it
   * may be something else.
   */
  writtenAs(node: AnyNode): { from: AnyNode; under: string[] }[] {
    const here = bare(node)
    if (here.type !== 'Identifier') return [{ from: here, under: [] }]
    const definitions = this.#scopes.variableOf(here)?.definitions ?? []
    const isPlain = definitions.every(({ path, under, exact }) => exact && path.length === 0 && !under.includes('*'))
    if (!isPlain || definitions.length > limits.structureDefinitionsMax) return []
    const [wholes, parts] = [
      definitions.filter((one) => one.under.length === 0),
      definitions.filter((one) => one.under.length > 0),
    ]
    return wholes.length === 1 ? [{ from: bare(wholes[0]!.from), under: [] }, ...parts] : []
  }

  #read(node: AnyNode, path: string[]): Origin[] {
    switch (node.type) {
      case 'Literal':
        return path.length === 0 && isJson(node.value) ? [this.#literal(node, node.value)] : []
      case 'Identifier':
        return this.#ofName(node, path)
      case 'MemberExpression':
        return this.of(node.object, [keyOf(node) ?? this.#fixedKey(node) ?? '*', ...path])
      case 'ObjectExpression':
        return this.#ofObject(node, path)
      case 'ArrayExpression':
        return this.#ofArray(node, path)
      case 'ConditionalExpression':
        return [...this.of(node.consequent, path), ...this.of(node.alternate, path)]
      case 'LogicalExpression':
        return [...this.of(node.left, path), ...this.of(node.right, path)]
      case 'AssignmentExpression':
        return this.of(node.right, path)
      case 'SequenceExpression':
        return this.of(node.expressions.at(-1)!, path)
      case 'CallExpression':
        return this.#ofCall(node, path)
      default:
        return this.#ofRest(node, path)
    }
  }

  /** A fixed text, else whatever went into it. */
  #ofRest(node: AnyNode, path: string[]): Origin[] {
    if (isFunction(node) || node.type === 'ThisExpression') return []
    const texts = path.length === 0 ? this.#meanings.texts(node) : []
    if (texts.length === 1 && texts[0] !== null) return [this.#literal(node, texts[0]!)]
    if (node.type === 'UnaryExpression' && node.operator === '-' && node.argument.type === 'Literal') {
      return [this.#literal(node, -Number(node.argument.value))]
    }
    return computed(childrenOf(node).flatMap((child) => this.of(child)))
  }

  #literal(node: AnyNode, value: Json): Origin {
    return { kind: 'literal', value, at: node.start, path: [], exact: true }
  }

  #fixedKey(node: Extract<AnyNode, { type: 'MemberExpression' }>): string | null {
    const [name, ...others] = this.#meanings.texts(node.property as AnyNode)
    return others.length === 0 ? (name ?? null) : null
  }

  #ofName(node: Extract<AnyNode, { type: 'Identifier' }>, path: string[]): Origin[] {
    const variable = this.#scopes.variableOf(node)
    if (variable !== null) {
      const { definitions } = variable
      if (definitions.length > limits.structureDefinitionsMax) this.#isLost = true
      const looked = definitions.slice(0, limits.structureDefinitionsMax)
      return looked.flatMap((definition) => this.#ofDefinition(definition, path))
    }
    if (node.name === 'args') return [{ kind: 'args', path, exact: true }]
    return []
  }

  #ofDefinition({ from, path, under, exact }: Definition, wanted: string[]): Origin[] {
    const isBelow = wanted.length >= under.length
    const fits = under.every((key, index) => index >= wanted.length || isSome(key, wanted[index]!))
    if (!fits) return []
    const found = isBelow ? this.of(from, [...path, ...wanted.slice(under.length)]) : computed(this.of(from, path))
    return exact ? found : computed(found)
  }

  #ofObject({ properties }: Extract<AnyNode, { type: 'ObjectExpression' }>, path: string[]): Origin[] {
    return properties.flatMap((property) => {
      if (property.type === 'SpreadElement') return this.of(property.argument, path)
      if (path.length === 0) return computed(this.of(property.value))
      return isSome(keyOf(property) ?? '*', path[0]!) ? this.of(property.value, path.slice(1)) : []
    })
  }

  #ofArray({ elements }: Extract<AnyNode, { type: 'ArrayExpression' }>, [index, ...rest]: string[]): Origin[] {
    return elements.flatMap((element, at) => {
      if (element === null) return []
      if (element.type === 'SpreadElement') return this.of(element.argument, index === undefined ? [] : ['*', ...rest])
      if (index === undefined) return computed(this.of(element))
      return isSome(String(at), index) ? this.of(element, rest) : []
    })
  }

  #ofCall(node: Extract<AnyNode, { type: 'CallExpression' }>, path: string[]): Origin[] {
    const meaning = this.#meanings.of(node.callee)
    if (meaning?.kind === 'tool' || meaning?.kind === 'tool function')
      return [{ kind: 'call', call: node, path, exact: true }]
    if (meaning?.kind === 'function') return this.#returned(meaning.node, path)
    const { callee, arguments: given } = node
    if (callee.type !== 'MemberExpression') return computed(given.flatMap((argument) => this.of(argument)))
    const name = keyOf(callee) ?? ''
    const whole = this.#meanings.of(callee.object)
    if (whole?.kind === 'global' && whole.name === 'Promise') return this.#ofPromise(name, given[0], path)
    const list = whole?.kind === 'global' ? given[0] : callee.object
    return list === undefined ? [] : this.#ofMethod(name, list, given, path)
  }

  #ofMethod(name: string, list: AnyNode, given: AnyNode[], path: string[]): Origin[] {
    const [index, ...rest] = path
    if (keepsItems.has(name) && index !== undefined) {
      if (index === 'length') return computed(this.of(list, ['length']))
      return [list, ...(name === 'concat' ? given : [])].flatMap((from) => this.of(from, ['*', ...rest]))
    }
    if (givesItem.has(name)) return this.of(list, ['*', ...path])
    if (maps.has(name) && index === 'length') return computed(this.of(list, ['length']))
    if (maps.has(name) && index !== undefined && given[0]) return this.#returnedBy(given[0], rest)
    if (name === 'catch' || name === 'finally') return this.of(list, path)
    if (name === 'then' && given[0]) return this.#returnedBy(given[0], path)
    return computed([list, ...given].flatMap((from) => (isFunction(from) ? this.#returned(from, []) : this.of(from))))
  }

  /** `allSettled` wraps each result; the others give it as it is. */
  #ofPromise(name: string, list: AnyNode | undefined, path: string[]): Origin[] {
    if (list === undefined) return []
    const [index, inner, ...rest] = path
    if (name === 'all' || name === 'resolve') return this.of(list, path)
    if (name === 'race' || name === 'any') return this.of(list, ['*', ...path])
    if (name !== 'allSettled' || index === undefined) return computed(this.of(list))
    return inner === 'value' ? this.of(list, [index, ...rest]) : computed(this.of(list, [index]))
  }

  #returnedBy(callback: AnyNode, path: string[]): Origin[] {
    const meaning = this.#meanings.of(callback)
    if (meaning?.kind === 'tool') return [{ kind: 'call', call: callback, path, exact: true }]
    return meaning?.kind === 'function' ? this.#returned(meaning.node, path) : []
  }

  #returned(node: AnyNode, path: string[]): Origin[] {
    if (!this.#returns.has(node)) this.#returns.set(node, returnsOf(node))
    return this.#returns.get(node)!.flatMap((value) => this.of(value, path))
  }
}

/** What a function may give back; functions inside it give back to others. */
function returnsOf(node: AnyNode): AnyNode[] {
  if (!isFunction(node)) return []
  const { body } = node
  if (body === null || body === undefined) return []
  if (body.type !== 'BlockStatement') return [body]
  const found: AnyNode[] = []
  const look = (here: AnyNode): void => {
    if (isFunction(here)) return
    if (here.type === 'ReturnStatement' && here.argument) found.push(here.argument)
    eachChild(here, (child) => look(child))
  }
  look(body)
  return found
}

function computed(origins: Origin[]): Origin[] {
  return origins.map((origin) => ({ ...origin, exact: false }))
}

function isSome(key: string, wanted: string): boolean {
  return key === wanted || key === '*' || wanted === '*'
}

function different(origins: Origin[]): Origin[] {
  const seen = new Map<string, Origin>()
  for (const origin of origins) {
    const where = origin.kind === 'call' ? origin.call.start : origin.kind === 'literal' ? origin.at : ''
    const key = `${origin.kind} ${where} ${origin.path.join('\0')} ${origin.exact}`
    if (seen.size < limits.structureOriginsMax && !seen.has(key)) seen.set(key, origin)
  }
  return [...seen.values()]
}

function isJson(value: unknown): value is Json {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}
