/** Where each argument of a call comes from, as far into them as the text goes. */
import type { AnyNode } from 'acorn'
import { limits, pointerOf } from '#model'
import type { Input, Source } from './node.ts'
import type { Origin, Origins } from './origins.ts'
import { keyOf } from './scopes.ts'

export function inputsOf(args: AnyNode, origins: Origins, sourceOf: (origin: Origin) => Source | null): Input[] {
  const found: Input[] = []
  const inside = new Set<AnyNode>()
  let looks = 0
  const look = (node: AnyNode, path: string[]): void => {
    looks += 1
    if (found.length >= limits.structureInputsMax || looks > limits.structureLooksMax) return
    if (path.length > limits.structurePathMax) return
    const [whole, ...later] = origins.writtenAs(node)
    const members = whole === undefined ? null : membersOf(whole.from)
    if (whole === undefined || members === null) return hold(node, path)
    // What is put into itself adds nothing of its own.
    if (inside.has(whole.from)) return
    inside.add(whole.from)
    for (const [keys, member] of members) look(member, [...path, ...keys])
    for (const { from, under } of later) look(from, [...path, ...under])
    inside.delete(whole.from)
  }
  const hold = (node: AnyNode, path: string[]): void => {
    for (const origin of origins.of(node)) {
      const source = sourceOf(origin)
      if (source !== null) found.push({ path: pointerOf(path), source })
    }
  }
  look(args, [])
  return found.slice(0, limits.structureInputsMax)
}

/**
 * Of an object or a list that is written out, with the keys that lead to each; what is spread into
 * an object is at none. Null of anything else.
 */
function membersOf(node: AnyNode): [string[], AnyNode][] | null {
  if (node.type === 'ArrayExpression') {
    const items = node.elements.filter((item) => item !== null && item.type !== 'SpreadElement') as AnyNode[]
    return items.length === node.elements.length ? items.map((item, index) => [[String(index)], item]) : null
  }
  if (node.type !== 'ObjectExpression') return null
  const members: [string[], AnyNode][] = []
  for (const property of node.properties) {
    const key = keyOf(property)
    if (property.type === 'SpreadElement') members.push([[], property.argument])
    else if (key === null) return null
    else members.push([[key], property.value])
  }
  return members
}
