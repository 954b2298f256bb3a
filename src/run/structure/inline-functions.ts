/**
 * A program with its own functions written out where they are used, as far as they call tools: then
 * each use is a place of its own, and what one is given and gives is not that of another. It does
 * what it did; only who reads it learns more.
 */
import type { AnyNode } from 'acorn'
import { limits } from '#model'
import { readParameters } from './parameters.ts'
import type { NameResolver } from './resolve-names.ts'
import { readScopes, type Scopes } from './scopes.ts'
import { childrenOf, eachChild, isFunction, readSyntax } from './syntax.ts'

/** `lines`: of each line of `source` the one that it was. */
type InlinedProgram = { source: string; lines: number[] }

/** A function may use another one: so often is looked again. */
const looks = 3

export function inlineFunctions(given: string): InlinedProgram {
  let program = { source: given, lines: given.split('\n').map((_, line) => line) }
  for (let look = 0; look < looks; look++) {
    const edits = editsOf(program.source)
    const grown = edits.reduce((sum, { text }) => sum + text.length, program.source.length)
    if (edits.length === 0 || grown > limits.structureSourceCharactersMax) return program
    program = apply(program, edits)
  }
  return program
}

type Edit = { start: number; end: number; text: string }

function editsOf(source: string): Edit[] {
  const { root } = readSyntax(source)
  const scopes = readScopes(root)
  const meanings = readParameters(root, scopes)
  const uses = usesOf(root, scopes)
  const edits = [...uses].flatMap(([variable, own]): Edit[] => {
    const [definition, ...others] = (variable as Variable).definitions
    if (definition === undefined || others.length > 0 || definition.under.length + definition.path.length > 0) return []
    const made = definition.from
    const isRecursive = own.some(({ node }) => node.start >= made.start && node.end <= made.end && node !== idOf(made))
    if (!isFunction(made) || isRecursive || own.some(({ isShorthand }) => isShorthand)) return []
    const isTaken = own.length > 0 && holdsCall(made, meanings)
    if (!isTaken) return []
    const text = `(${source.slice(made.start, made.end)})`
    const places = own.map(({ node }) => ({ start: node.start, end: node.end, text }))
    const [from, instead] = made.type === 'FunctionDeclaration' ? [made, ';'] : [made, 'null']
    return [...places, { start: from.start, end: from.end, text: instead }]
  })
  // What stands inside of what is replaced is looked at the next time.
  return edits.filter(
    (edit) => !edits.some((other) => other !== edit && other.start <= edit.start && other.end >= edit.end),
  )
}

type Variable = NonNullable<ReturnType<Scopes['variableOf']>>
type Use = { node: AnyNode; isShorthand: boolean }

const idOf = (made: AnyNode) => ('id' in made ? made.id : null)

/** Where each variable is mentioned, without where it is declared. */
function usesOf(root: AnyNode, { variableOf }: Scopes): Map<Variable, Use[]> {
  const uses = new Map<Variable, Use[]>()
  const look = (node: AnyNode, parent: AnyNode | null): void => {
    const variable = node.type === 'Identifier' ? variableOf(node) : null
    const isDeclared = parent !== null && 'id' in parent && parent.id === node
    const isName = parent?.type === 'MemberExpression' && parent.property === node && !parent.computed
    const isKey = parent?.type === 'Property' && parent.key === node && !parent.computed && !parent.shorthand
    if (variable !== null && !isDeclared && !isName && !isKey) {
      const isShorthand = parent?.type === 'Property' && parent.shorthand
      uses.set(variable, [...(uses.get(variable) ?? []), { node, isShorthand: isShorthand === true }])
    }
    eachChild(node, (child) => look(child, node))
  }
  look(root, null)
  return uses
}

function holdsCall(node: AnyNode, meanings: NameResolver): boolean {
  const kind = node.type === 'CallExpression' ? meanings.of(node.callee)?.kind : undefined
  return kind === 'tool' || kind === 'tool function' || childrenOf(node).some((child) => holdsCall(child, meanings))
}

function apply({ source, lines }: InlinedProgram, edits: Edit[]): InlinedProgram {
  let text = ''
  let at = 0
  const made: number[] = [lines[0]!]
  let line = 0
  const keep = (end: number) => {
    const part = source.slice(at, end)
    for (const _ of part.matchAll(/\n/g)) {
      line += 1
      made.push(lines[line]!)
    }
    text += part
    at = end
  }
  for (const edit of edits.toSorted((left, right) => left.start - right.start)) {
    keep(edit.start)
    for (const _ of edit.text.matchAll(/\n/g)) made.push(lines[line]!)
    line += source.slice(edit.start, edit.end).split('\n').length - 1
    // The rest of the line stands where the replaced text ended.
    text += edit.text
    at = edit.end
  }
  keep(source.length)
  return { source: text, lines: made }
}
