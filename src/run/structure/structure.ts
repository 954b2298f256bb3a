/**
 * The structure of a program, read from its text before it runs and without running it. In goes a
 * prepared program; out comes plain data: what it may call, where it branches, repeats and goes in
 * parallel, and which value reaches which call. It refuses nothing and is no guard: what a program
 * really calls is decided call by call.
 */
import type { AnyNode } from 'acorn'
import { limits } from '#model'
import { annotationsOf } from './annotations.ts'
import { instrumentArms } from './instrument-arms.ts'
import type { Flow, Structure, StructureNode } from './node.ts'
import { Origins } from './origins.ts'
import { readParameters } from './parameters.ts'
import { readScopes } from './scopes.ts'
import { readSyntax } from './syntax.ts'
import { ProgramWalker } from './walk-program.ts'

export { type CanonicalProgram, canonicalOf } from './canonical.ts'
export { inlineFunctions } from './inline-functions.ts'
export { readMark } from './instrument-arms.ts'
export type * from './node.ts'
export { type ProgramSlice, sliceProgram } from './slice-program.ts'
export { callsInFunctions } from './slice-statements.ts'

/**
 * `source` is what `prepareProgram` made of the program: what acorn cannot read may still run, and
 * its structure is unknown.
 */
export function structureOf(source: string): Structure {
  return readStructure(source).structure
}

/**
 * The same, with the program as text in which every arm of a branch says that it is taken; where it
 * is unknown, as it was.
 */
export function markedStructure(source: string): { structure: Structure; marked: string } {
  const { structure, ids } = readStructure(source)
  return { structure, marked: ids === null ? source : instrumentArms(source, ids) }
}

function readStructure(source: string): { structure: Structure; ids: ReadonlyMap<AnyNode, string> | null } {
  const unknown = (why: string) => ({ structure: { known: false as const, why }, ids: null })
  if (source.length > limits.structureSourceCharactersMax) {
    return unknown(`it is longer than ${limits.structureSourceCharactersMax} characters`)
  }
  try {
    const syntax = readSyntax(source)
    const scopes = readScopes(syntax.root)
    const meanings = readParameters(syntax.root, scopes)
    const { ids, ...read } = new ProgramWalker(syntax, meanings, new Origins(scopes, meanings)).read(syntax.root)
    const annotations = annotationsOf(syntax)
    return { structure: { known: true, ...read, flows: flowsOf(read.nodes), annotations }, ids }
  } catch (error) {
    if (error instanceof SyntaxError) return unknown(`it cannot be read: ${error.message}`)
    if (error instanceof RangeError) return unknown('it is nested too deeply')
    throw error
  }
}

function flowsOf(nodes: StructureNode[]): Flow[] {
  return nodes.flatMap((node) =>
    node.kind !== 'call'
      ? []
      : node.inputs.flatMap(({ path: toPath, source }): Flow[] => {
          if (source.kind === 'literal') return []
          const from = source.kind === 'args' ? 'args' : source.node
          return [{ from, fromPath: source.path, to: node.id, toPath, exact: source.exact }]
        }),
  )
}
