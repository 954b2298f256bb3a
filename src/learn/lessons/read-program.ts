/** A program as its runs are read against: its structure, and the places in it that make calls. */
import { LruCache, limits } from '#model'
import { loadEngine, loadStructure, type Structure, type StructureNode } from '#run'

const { preparedCached } = await loadEngine()
const { callsInFunctions, inlineFunctions, structureOf } = await loadStructure()

type CallNode = Extract<StructureNode, { kind: 'call' }>

export type CallSite = CallNode & {
  /** Its inputs by the places in the arguments that they may be at. */
  inputsByPath: readonly (readonly [path: string, inputs: CallNode['inputs']])[]
  /** The loops around it, and the operations that call a function for each of some items. */
  repeatedBy: ReadonlySet<string>
  /** In a function of the program that is called elsewhere. */
  isInFunction: boolean
  /** Arms of branches around it, `b3 then`: it is made only where they are taken. */
  arms: ReadonlyMap<string, string>
}

export type ReadProgram = {
  /** As it was prepared, with its functions written out where they are used. */
  source: string
  /** Of a line there the line that its author wrote. */
  lineOf(line: number): number
  structure: Extract<Structure, { known: true }>
  /** In the order of the text. */
  sites: CallSite[]
}

const programs = new LruCache<string, ReadProgram | { why: string }>(limits.learnShapesMax)

/** Reading a program costs more than all the rest, and habits repeat their programs. */
export function programCached(code: string): ReadProgram | { why: string } {
  const program = programs.get(code) ?? readProgram(code)
  programs.set(code, program)
  return program
}

function readProgram(code: string): ReadProgram | { why: string } {
  try {
    const { source, lines } = inlineFunctions(preparedCached(code).source)
    const structure = structureOf(source)
    if (!structure.known) return { why: structure.why }
    const inFunctions = callsInFunctions(source)
    const byId = new Map(structure.nodes.map((node) => [node.id, node]))
    const calls = structure.nodes.filter((node): node is CallNode => node.kind === 'call')
    const sites = calls.map((node): CallSite => {
      const around = aroundOf(node, byId)
      const repeating = around.filter(({ kind }) => kind === 'loop' || kind === 'operation')
      const isInFunction = repeating.length === 0 && inFunctions.has(`${node.line}:${node.column}`)
      const arms = new Map([node, ...around].flatMap(({ within, arm }) => (within && arm ? [[within, arm]] : [])))
      const inputsByPath = [...Map.groupBy(node.inputs, ({ path }) => path)]
      return { ...node, inputsByPath, repeatedBy: new Set(repeating.map(({ id }) => id)), isInFunction, arms }
    })
    return { source, lineOf: (line) => lines[line] ?? line, structure, sites }
  } catch (error) {
    return { why: (error as Error).message }
  }
}

function aroundOf({ within }: StructureNode, byId: ReadonlyMap<string, StructureNode>): StructureNode[] {
  const node = within === null ? undefined : byId.get(within)
  return node === undefined ? [] : [node, ...aroundOf(node, byId)]
}
