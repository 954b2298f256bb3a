/** What a condition asks of arguments and results, so that the other answer can be tried. */
import type { AnyNode, BinaryExpression, CallExpression } from 'acorn'
import { type Json, limits } from '#model'
import type { Question } from './node.ts'
import type { Origin, Origins } from './origins.ts'
import type { NameResolver } from './resolve-names.ts'
import { keyOf } from './scopes.ts'
import { bare, isFunction } from './syntax.ts'

export type RawTest = { origin: Origin; asks: Question }
type Reading = { origins: Origins; meanings: NameResolver }

/** `asks` is what is asked where the condition is nothing but a value. */
export function testsOf(condition: AnyNode, reading: Reading, asks: Question = { kind: 'truth' }): RawTest[] {
  const node = bare(condition)
  switch (node.type) {
    case 'LogicalExpression': {
      const left: Question = node.operator === '??' ? { kind: 'nothing' } : asks
      return [...testsOf(node.left, reading, left), ...testsOf(node.right, reading, asks)]
    }
    case 'UnaryExpression':
      return node.operator === '!' ? testsOf(node.argument, reading) : []
    case 'BinaryExpression':
      return ofComparison(node, reading)
    case 'CallExpression':
      return ofCall(node, reading, asks)
    case 'MemberExpression':
      if (keyOf(node) === 'length') return ofValue(node.object, reading, { kind: 'items' })
      return ofValue(node, reading, asks)
    default:
      return ofValue(node, reading, asks)
  }
}

/** Every value that reaches it from outside is asked; what was computed may still turn with it. */
export function ofValue(node: AnyNode, { origins }: Reading, asks: Question): RawTest[] {
  const found = origins.of(node).filter(({ kind }) => kind !== 'literal')
  return found.slice(0, limits.structureOriginsMax).map((origin) => ({ origin, asks }))
}

function ofComparison(node: BinaryExpression, reading: Reading): RawTest[] {
  const left = bare(node.left as AnyNode)
  const right = bare(node.right)
  if (node.operator === 'in') {
    const [name] = reading.meanings.texts(left)
    return name === null || name === undefined ? [] : ofValue(right, reading, { kind: 'member', to: name })
  }
  const sides: [AnyNode, AnyNode][] = [
    [left, right],
    [right, left],
  ]
  return sides.flatMap(([asked, other]) => {
    const to = fixedValue(other, reading)
    return to === undefined ? [] : ofFixed(asked, to, node.operator, reading)
  })
}

function ofFixed(asked: AnyNode, to: Json, operator: string, reading: Reading): RawTest[] {
  if (asked.type === 'UnaryExpression' && asked.operator === 'typeof') {
    return ofValue(asked.argument, reading, { kind: 'type', to: String(to) })
  }
  const isEquality = /^[!=]==?$/.test(operator)
  if (asked.type === 'MemberExpression' && keyOf(asked) === 'length' && typeof to === 'number') {
    return [...ofValue(asked.object, reading, { kind: 'count', to }), ...ofInner(asked.object, reading)]
  }
  if (isEquality && to === null) return ofValue(asked, reading, { kind: 'nothing' })
  return ofValue(asked, reading, { kind: isEquality ? 'equal' : 'order', to })
}

/** A literal, or a name that stands for one; `undefined` counts as null. */
function fixedValue(node: AnyNode, { origins }: Reading): Json | undefined {
  if (node.type === 'Identifier' && node.name === 'undefined') return null
  const [origin, ...others] = origins.of(node)
  return others.length === 0 && origin?.kind === 'literal' && origin.exact ? origin.value : undefined
}

const partOf = new Set(['includes', 'startsWith', 'endsWith', 'has', 'indexOf'])

function ofCall(node: CallExpression, reading: Reading, asks: Question): RawTest[] {
  const { callee, arguments: given } = node
  if (callee.type !== 'MemberExpression') return ofValue(node, reading, asks)
  const [first] = given
  const name = keyOf(callee) ?? ''
  const isGlobal = reading.meanings.of(callee.object)?.kind === 'global'
  if (isGlobal && name === 'isArray' && first) return ofValue(first, reading, { kind: 'list' })
  if (isGlobal && name === 'hasOwn' && first && given[1]) {
    const [key] = reading.meanings.texts(given[1])
    return key ? ofValue(first, reading, { kind: 'member', to: key }) : []
  }
  const to = first === undefined ? undefined : fixedValue(bare(first), reading)
  if (partOf.has(name) && to !== undefined) return ofValue(callee.object, reading, { kind: 'part', to })
  if (name === 'includes' && first) {
    const [item] = reading.origins.of(callee.object, ['*']).filter(({ kind, exact }) => kind === 'literal' && exact)
    if (item?.kind === 'literal') return ofValue(first, reading, { kind: 'equal', to: item.value })
  }
  const isKnown = reading.meanings.of(callee) !== null
  const inner = first && isFunction(bare(first)) ? ofInner(node, reading) : []
  if (inner.length > 0) return [...ofValue(callee.object, reading, { kind: 'items' }), ...inner]
  return isKnown ? ofValue(node, reading, asks) : ofValue(callee.object, reading, asks)
}

/** What the function of an operation asks of each item: `list.some((item) => item.open)`. */
export function ofInner(node: AnyNode, reading: Reading): RawTest[] {
  const here = bare(node)
  if (here.type !== 'CallExpression' || here.callee.type !== 'MemberExpression') return []
  const callback = here.arguments[0] && bare(here.arguments[0])
  const body = callback && isFunction(callback) ? callback.body : null
  if (!body || body.type === 'BlockStatement') return []
  return testsOf(body, reading)
}
