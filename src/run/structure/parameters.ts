/**
 * What the parameters of a program's own functions are given: by its calls of them, and by the
 * operations it hands them to.
 */
import type { AnyNode, CallExpression, Pattern } from 'acorn'
import { operationOf } from '#model'
import { NameResolver } from './resolve-names.ts'
import { keyOf, type Scopes } from './scopes.ts'
import { eachChild, isFunction } from './syntax.ts'

/** A function may be handed to a function: what the second look finds, the first could not know. */
const looks = 2

export function readParameters(root: AnyNode, scopes: Scopes): NameResolver {
  const done = new Set<AnyNode>()
  const calls: CallExpression[] = []
  collect(root, calls)
  for (let look = 0; look < looks; look++) {
    const meanings = new NameResolver(scopes)
    for (const call of calls) if (!done.has(call) && give(call, scopes, meanings)) done.add(call)
  }
  return new NameResolver(scopes)
}

function collect(node: AnyNode, calls: CallExpression[]): void {
  if (node.type === 'CallExpression') calls.push(node)
  eachChild(node, (child) => collect(child, calls))
}

/** True when the call was understood: then it need not be looked at again. */
function give(call: CallExpression, scopes: Scopes, meanings: NameResolver): boolean {
  const meaning = meanings.of(call.callee)
  if (meaning?.kind === 'function') {
    const { params } = meaning.node as AnyNode & { params: Pattern[] }
    for (const [index, from] of call.arguments.entries()) {
      const parameter = params[index]
      if (parameter && from.type !== 'SpreadElement') scopes.define(parameter, { from, path: [], exact: true })
    }
    return true
  }
  const { callee } = call
  if (callee.type !== 'MemberExpression') return false
  const isGlobal = meanings.of(callee.object)?.kind === 'global'
  const [list, callback] = isGlobal ? [call.arguments[0], call.arguments[1]] : [callee.object, call.arguments[0]]
  const given = callback && meanings.of(callback)
  if (!list || !callback || given?.kind !== 'function' || !isFunction(given.node)) return false
  handOver(keyOf(callee) ?? '', list, given.node.params, call, scopes)
  return true
}

function handOver(name: string, list: AnyNode, params: Pattern[], call: CallExpression, scopes: Scopes): void {
  const [first, second] = params
  const item = { from: list, path: ['*'], exact: true }
  if (name === 'then') {
    if (first) scopes.define(first, { from: list, path: [], exact: true })
  } else if (name === 'reduce' || name === 'reduceRight') {
    const start = call.arguments[1]
    if (first && start) scopes.define(first, { from: start, path: [], exact: true })
    if (second) scopes.define(second, item)
  } else if (name === 'from' || name === 'sort' || name === 'toSorted' || operationOf(`code:${name}`)?.takesFunction) {
    if (first) scopes.define(first, item)
    if (second && (name === 'sort' || name === 'toSorted')) scopes.define(second, item)
  }
}
