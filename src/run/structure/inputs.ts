/** Where each argument of a call comes from, as far into them as the text goes. */
import type { AnyNode } from 'acorn'
import { limits } from '#model'
import type { Input, Source } from './node.ts'
import type { Origin, Origins } from './origins.ts'
import { keyOf } from './scopes.ts'
import { bare } from './syntax.ts'

export function inputsOf(args: AnyNode, origins: Origins, sourceOf: (origin: Origin) => Source | null): Input[] {
  const found: Input[] = []
  const look = (node: AnyNode, path: string[]): void => {
    if (found.length >= limits.structureInputsMax || path.length > limits.structurePathMax) return
    const members = membersOf(bare(node))
    for (const [key, member] of members ?? []) look(member, [...path, key])
    if (members !== null) return
    for (const origin of origins.of(node)) {
      const source = sourceOf(origin)
      if (source !== null) found.push({ path: pointerOf(path), source })
    }
  }
  look(args, [])
  return found.slice(0, limits.structureInputsMax)
}

/** Of an object or a list that is written out whole; null of anything else. */
function membersOf(node: AnyNode): [string, AnyNode][] | null {
  if (node.type === 'ArrayExpression') {
    const items = node.elements.filter((item) => item !== null && item.type !== 'SpreadElement') as AnyNode[]
    return items.length === node.elements.length ? items.map((item, index) => [String(index), item]) : null
  }
  if (node.type !== 'ObjectExpression') return null
  const members: [string, AnyNode][] = []
  for (const property of node.properties) {
    const key = keyOf(property)
    if (property.type !== 'Property' || key === null) return null
    members.push([key, property.value])
  }
  return members
}

export function pointerOf(path: string[]): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
