/**
 * The rules about what a file exports and how long its parts are: exports that nothing imports,
 * names that say nothing to a reader of the field, functions and comments that are too long.
 */
import { stripTypeScriptTypes } from 'node:module'
import { basename } from 'node:path'
import { type AnyNode, parse } from 'acorn'
import { blank } from './blank.ts'
import { isShipped, lineAt, type Problem, resolve, type Source } from './tidy-imports.ts'

const functionLinesMax = 70
const commentWidthMax = 100

/** Participles and adverbs used as nouns, which a reader can neither look up nor search for. */
const participles = /^(?:told|said|heard|seen|made|kept|taken|given|here|whole)$/i

/** Adjectives and participles that are no name by themselves, only beside a noun. */
const bare = /^(?:asked|exploring|known|left|named|pretending|settling|understood|visible)$/i

/** Pictures of another trade for things that computer science has a word for. */
const metaphors =
  /^(?:desks?|glimpse|kin|landing|plot|seats?|somebody|stage|stock|surroundings|turnstile|whoever|workshop|yes)$/i

/** What comments of the product say otherwise than its code, or in no reader's English. */
const archaic = /\b(?:anew|(?:is|are|was|were|be) said aloud|hears? out|(?:old|older|new|newer) era|oldest manner)\b/i

/** The gateway is no door: a door is the file by which a folder is imported, its front door. */
const door = /(?<!\b(?:front|back) )\bdoors?\b/i

/** Pronouns where a component, a process or a person is meant; `nobody` in code marks is a user. */
const pronouns = /(?<!`)\b(?:whoever|whomever|(?:no|some|any|every)body|(?:some|any|every)one)\b/i

/**
 * Functions that may be longer, with the lines they have now. The list only shrinks. What stands in
 * sandbox/inside/ is the text of a guest: one function is one program.
 */
export const longFunctions: Record<string, number> = {
  'src/catalog/catalog.ts#catalogOf': 74,
  'src/catalog/upstream/server-entry.ts#openEntry': 88,
  'src/gateway/mcp/sessions.ts#openSessions': 72,
  'src/record/chain.ts#openChain': 140,
  'src/record/reader.ts#openReader': 116,
  'src/record/secrets/secrets.ts#openSecrets': 98,
  'src/record/store.ts#openStore': 131,
  'src/record/writer/writer.ts#openWriter': 161,
  'src/sandbox/boxes.ts#openBoxes': 159,
  'src/sandbox/inside/guest-bridge.ts#bridge': 188,
  'src/sandbox/inside/guest-surface.ts#surface': 90,
  'src/sandbox/inside/guest-url.ts#urls': 94,
  'src/sandbox/inside/machine.ts#createMachine': 137,
  'src/sandbox/inside/v8-guest-text.ts#texts': 160,
  'src/sandbox/inside/v8-guest.ts#builtIns': 82,
  'src/sandbox/program.ts#driveProgram': 73,
  'src/sandbox/script/box-factory.ts#openBoxFactory': 73,
  'src/verbs/generations.ts#openGenerations': 83,
}

export function checkCode(sources: Source[], exempt: Record<string, number>): Problem[] {
  const shipped = sources.filter(({ file }) => isShipped(file))
  return [
    ...shipped.flatMap((source) => checkFunctions(source, exempt)),
    ...checkExemptFunctions(shipped, exempt),
    ...sources.flatMap(checkWords),
    ...sources.flatMap(checkComments),
    ...unusedExports(sources),
  ]
}

type Func = { name: string; line: number; lines: number }

/** Every function of a file with its name and length, from first to last line. */
export function functionsOf(text: string): Func[] {
  const code = stripTypeScriptTypes(text)
  const tree = parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true, allowHashBang: true })
  const found: Func[] = []
  walk(tree, '', (node, name) => {
    const { start, end } = node.loc!
    found.push({ name, line: start.line, lines: end.line - start.line + 1 })
  })
  return found
}

const functionTypes = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])

function walk(node: AnyNode, named: string, visit: (node: AnyNode, name: string) => void): void {
  const own = nameOf(node) ?? named
  if (functionTypes.has(node.type)) visit(node, own)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (child && typeof child === 'object' && typeof child.type === 'string') walk(child, own, visit)
    }
  }
}

function nameOf(node: AnyNode): string | undefined {
  const name = 'id' in node && node.id ? node.id : 'key' in node ? node.key : undefined
  return name && (name.type === 'Identifier' || name.type === 'PrivateIdentifier') ? name.name : undefined
}

function checkFunctions({ file, text }: Source, exempt: Record<string, number>): Problem[] {
  return functionsOf(text)
    .filter(({ name, lines }) => lines > (exempt[`${file}#${name}`] ?? functionLinesMax))
    .map(({ name, line, lines }) => ({ file, line, problem: `"${name}" has ${lines} lines: does it do one thing?` }))
}

/** An exemption that is not used to its full length is lowered or taken out. */
function checkExemptFunctions(sources: Source[], exempt: Record<string, number>): Problem[] {
  return Object.entries(exempt).flatMap(([key, allowed]) => {
    const [file, name] = key.split('#') as [string, string]
    const source = sources.find((one) => one.file === file)
    const lines = Math.max(
      0,
      ...functionsOf(source?.text ?? '')
        .filter((one) => one.name === name)
        .map((one) => one.lines),
    )
    if (lines === allowed && lines > functionLinesMax) return []
    return [
      { file, line: 1, problem: `"${name}" is exempt with ${allowed} lines and has ${lines}: lower the exemption` },
    ]
  })
}

const exportedOrType =
  /^(?:export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|type|interface)|(?:type|interface|class)) (\w+)/gm
const exported = /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|type|interface) (\w+)/gm

/** Names that others read: of files, of what is exported, and of types. */
function checkWords({ file, text }: Source): Problem[] {
  const names = [...blank(text).matchAll(exportedOrType)].map(({ 1: name, index }) => ({ name: name!, index }))
  return [{ name: basename(file, '.ts').replace(/\.test$/, ''), index: 0 }, ...names].flatMap(({ name, index }) => {
    const refused = refusedWord(name, isShipped(file))
    if (refused === undefined) return []
    return [{ file, line: lineAt(text, index), problem: `"${name}" says "${refused}" where the field has a noun` }]
  })
}

function refusedWord(name: string, isProduct: boolean): string | undefined {
  const words = name.split(/(?<=[a-z0-9])(?=[A-Z])|[-_.]/)
  const last = words.at(-1)!
  const isBare = participles.test(last) || bare.test(name)
  if (isBare) return last
  return isProduct ? words.find((word) => metaphors.test(word)) : undefined
}

/** Lines that are nothing but a comment; what a linter reads must stand in one line. */
function checkComments({ file, text }: Source): Problem[] {
  const code = blank(text).split('\n')
  const spoken = blank(text, true).split('\n')
  return text.split('\n').flatMap((line, index) => {
    const isComment = code[index]!.trim() === '' && spoken[index]!.trim() !== ''
    if (!isComment || line.includes('biome-ignore')) return []
    const problems: string[] = []
    if (line.length > commentWidthMax)
      problems.push(`has a comment of ${line.length} columns: at most ${commentWidthMax}`)
    const phrase = isShipped(file) ? archaic.exec(line)?.[0] : undefined
    if (phrase !== undefined) problems.push(`says "${phrase}" in a comment: say it as the code does, in plain words`)
    if (isShipped(file) && door.test(line)) problems.push('says "door" in a comment: name the gateway, or the file')
    const pronoun = pronouns.exec(line)?.[0]
    if (pronoun !== undefined) problems.push(`says "${pronoun}" in a comment: name the component, process or person`)
    return problems.map((problem) => ({ file, line: index + 1, problem }))
  })
}

type Names = { from: string; names: string[] }

const clause = /^(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{([^}]*)\}\s*from\s*'([^']+)'/gm
const everything =
  /(?:^(?:import|export)\s+(?:type\s+)?\*(?:\s+as\s+\w+)?\s+from\s*'([^']+)'|\bimport\('([^']+)'\)(?!\.\w))/gm
const destructured = /\{([^{}]*)\}\s*=\s*(?:\(\s*)?await import\('([^']+)'\)/g
const typeImport = /\bimport\('([^']+)'\)\.(\w+)/g

/** The names that a file takes from others; `*` stands for all of them. */
function takenBy(text: string): Names[] {
  const taken: Names[] = []
  for (const [, names, from] of text.matchAll(clause)) taken.push({ from: from!, names: listed(names!) })
  for (const [, names, from] of text.matchAll(destructured)) taken.push({ from: from!, names: listed(names!) })
  const rest = text.replace(destructured, '')
  for (const [, still, moving] of rest.matchAll(everything)) taken.push({ from: (still ?? moving)!, names: ['*'] })
  for (const [, from, name] of text.matchAll(typeImport)) taken.push({ from: from!, names: [name!] })
  return taken
}

function listed(names: string): string[] {
  return names
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .split(',')
    .map(
      (name) =>
        name
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+as\s+|\s*:\s*/)[0]!,
    )
    .filter(Boolean)
}

/** What a file exports, with the line; of a door also what it hands on. */
function exportsOf(text: string): { name: string; line: number }[] {
  const found = [...blank(text).matchAll(exported)].map((match) => ({
    name: match[1]!,
    line: lineAt(text, match.index),
  }))
  for (const match of text.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm)) {
    for (const name of match[1]!.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '').split(',')) {
      const last = name
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+/)
        .at(-1)
      if (last) found.push({ name: last, line: lineAt(text, match.index) })
    }
  }
  return found
}

/** Exports of shipped files that no other file takes, tests and benches included. */
function unusedExports(sources: Source[]): Problem[] {
  const taken = new Map<string, Set<string>>()
  for (const { file, text } of sources) {
    for (const { from, names } of takenBy(text)) {
      const target = resolve(file, from)
      if (target === null) continue
      const known = taken.get(target) ?? new Set()
      for (const name of names) known.add(name)
      taken.set(target, known)
    }
  }
  return sources
    .filter(({ file }) => isShipped(file))
    .flatMap(({ file, text }) => {
      const used = taken.get(file) ?? new Set()
      if (used.has('*')) return []
      return exportsOf(text)
        .filter(({ name }) => !used.has(name))
        .map(({ name, line }) => ({ file, line, problem: `exports "${name}", which nothing imports` }))
    })
}
