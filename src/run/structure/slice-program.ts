/**
 * A program cut down to what makes one value: the arguments of one of its calls, or its result. Its
 * calls are replaced by results that are handed to it, so that the slice calls nothing: a graph of
 * tasks computes with it what the program computed between its calls.
 */
import type { AnyNode } from 'acorn'
import { limits } from '#model'
import { readParameters } from './parameters.ts'
import { readScopes } from './scopes.ts'
import { bodyOf, type CallSite, readStatement, type Statement } from './slice-statements.ts'
import { bare, childrenOf, readSyntax, type Syntax } from './syntax.ts'

/** A call at its place in the text, as the structure has it, or what the program returns. */
type Wanted = { tool: string; line: number; column: number } | 'result'

/**
 * `code` takes `args.calls`, a list of `{ tool, given?, result }` in which each is taken once,
 * `args.args` where it takes the program's own, and for arguments `args.skip`: how many calls of
 * the wanted tool come before it and have no result yet.
 */
/** `isCall`: the value is what one call was answered, and nothing else. */
export type ProgramSlice = { code: string; tools: string[]; takesArgs: boolean; isCall: boolean }

/** With these a slice would make another value than the program did. */
const notPure = ['Date', 'sleep', 'setTimeout', 'setInterval', 'crypto', 'performance', 'eval', 'globalThis']

/**
 * Null where the text does not say what is called, where time or chance are part of the value, or
 * where the slice would be too long. `repeated` are the tools that were called more than once:
 * their results are told apart by what they were given.
 */
export function sliceProgram(source: string, wanted: Wanted, repeated: ReadonlySet<string>): ProgramSlice | null {
  const syntax = readSyntax(source)
  const scopes = readScopes(syntax.root)
  const meanings = readParameters(syntax.root, scopes)
  const tool = wanted === 'result' ? null : wanted.tool
  const keepsGiven = (site: CallSite) =>
    site.tool === tool || repeated.has(site.tool) || (site.given !== null && !isSimple(site.given))
  const reader = { scopes, meanings, keepsGiven }
  const all = bodyOf(syntax.root).map((node) => readStatement(node, reader))
  if (all.some(({ sites }) => sites.some((site) => site.tool === ''))) return null
  const kept = wanted === 'result' ? resultStatements(all) : argumentStatements(all, wanted, syntax)
  const globals = new Set(kept.flatMap((one) => [...one.globals]))
  const isNamed = /\$(?:call|calls|skip|same)\b/.test(source)
  if (isNamed || notPure.some((name) => globals.has(name)) || kept.some(takesChance)) return null
  const sites = kept.flatMap((one) => one.sites)
  const text = kept.map(({ node }) => render(source, node.start, node.end, sites, keepsGiven)).join('\n')
  if (text.length > limits.sliceCharactersMax) return null
  const code = tool === null ? resultCode(text) : argumentsCode(text, tool)
  const isCall = wanted === 'result' && isCallItself(all)
  return { code, tools: [...new Set(sites.map((site) => site.tool))], takesArgs: globals.has('args'), isCall }
}

/** Its one return is that of a call. */
function isCallItself(all: Statement[]): boolean {
  const [only, ...others] = all.filter(({ returns }) => returns)
  if (only?.node.type !== 'ReturnStatement' || others.length > 0) return false
  const value = bare(only.node.argument ?? only.node)
  return only.sites.some(({ node }) => node === value)
}

function resultStatements(all: Statement[]): Statement[] {
  return withNeeds(
    all,
    all.filter(({ returns }) => returns),
  )
}

/** Whatever may call the tool, so that its calls are counted as they were; nothing after it. */
function argumentStatements(all: Statement[], { tool, line, column }: Exclude<Wanted, 'result'>, { placeOf }: Syntax) {
  const isHere = ({ node }: CallSite) => placeOf(node.start).line === line && placeOf(node.start).column === column
  const home = all.findIndex(({ sites }) => sites.some(isHere))
  const isDirect = all[home]?.sites.some((site) => isHere(site) && !site.isInFunction) === true
  const before = isDirect ? all.filter(({ node }, index) => index <= home || node.type === 'FunctionDeclaration') : all
  const calling = new Set(before.filter(({ sites }) => sites.some((site) => site.tool === tool)))
  for (let size = -1; size !== calling.size; ) {
    size = calling.size
    const names = new Set([...calling].filter((one) => one.hasFunctions).flatMap(({ declared }) => [...declared]))
    for (const one of before) if (!one.takes.isDisjointFrom(names)) calling.add(one)
  }
  return withNeeds(before, [...calling])
}

/** With all that gives a value to a name that is taken, or may change it. */
function withNeeds(all: Statement[], roots: Statement[]): Statement[] {
  const kept = new Set(roots)
  for (let size = -1; size !== kept.size; ) {
    size = kept.size
    const needed = new Set([...kept].flatMap(({ takes }) => [...takes]))
    for (const one of all)
      if (!one.declared.isDisjointFrom(needed) || !one.outside.isDisjointFrom(needed)) kept.add(one)
  }
  return all.filter((one) => kept.has(one))
}

function takesChance({ node }: Statement): boolean {
  const look = (here: AnyNode): boolean =>
    (here.type === 'MemberExpression' && here.property.type === 'Identifier' && here.property.name === 'random') ||
    childrenOf(here).some(look)
  return look(node)
}

/** Reading it does nothing, so that it may be left out. */
function isSimple(node: AnyNode): boolean {
  const harmless = ['Literal', 'Identifier', 'MemberExpression', 'ObjectExpression', 'ArrayExpression', 'Property']
  const others = ['TemplateLiteral', 'TemplateElement', 'BinaryExpression', 'ConditionalExpression', 'SpreadElement']
  return [...harmless, ...others].includes(node.type) && childrenOf(node).every(isSimple)
}

type IsGivenResult = (site: CallSite) => boolean

/** The text from `start` to `end`, with what each call was answered in place of the call. */
function render(source: string, start: number, end: number, sites: CallSite[], keepsGiven: IsGivenResult): string {
  const inside = sites.filter(({ node }) => node.start >= start && node.end <= end)
  const outermost = inside.filter(({ node }) => !inside.some((other) => other.node !== node && holds(other.node, node)))
  let text = ''
  let at = start
  for (const site of outermost.toSorted((left, right) => left.node.start - right.node.start)) {
    text += source.slice(at, site.node.start) + answered(source, site, inside, keepsGiven)
    at = site.node.end
  }
  return text + source.slice(at, end)
}

const holds = (outer: AnyNode, inner: AnyNode) => outer.start <= inner.start && outer.end >= inner.end

function answered(source: string, site: CallSite, sites: CallSite[], keepsGiven: IsGivenResult): string {
  const { node, tool, given } = site
  const name = JSON.stringify(tool)
  if (bare(node).type !== 'CallExpression') return `(($given) => $call(${name}, $given))`
  if (given === null || !keepsGiven(site)) return `$call(${name})`
  const others = sites.filter((one) => one !== site)
  return `$call(${name}, ${render(source, given.start, given.end, others, keepsGiven)})`
}

const taken = `const $calls = [...args.calls]
const $same = (one, tool, given) => one.tool === tool && (!('given' in one) || JSON.stringify(one.given) === JSON.stringify(given ?? {}))
`

const resultCode = (text: string) => `${taken}const $call = async (tool, given) => {
  const at = $calls.findIndex((one) => $same(one, tool, given))
  if (at < 0) throw new Error('There is no result of ' + tool + ' for what it is given here')
  return $calls.splice(at, 1)[0].result
}
return await (async (args) => {
${text}
})(args.args)`

/** It ends as the wanted call is made: what has no result yet is waited for in vain. */
const argumentsCode = (text: string, tool: string) => `${taken}let $skip = args.skip ?? 0
return await new Promise((resolve, reject) => {
  const $call = (tool, given) => {
    const at = $calls.findIndex((one) => $same(one, tool, given))
    if (at >= 0) return Promise.resolve($calls.splice(at, 1)[0].result)
    if (tool === ${JSON.stringify(tool)} && $skip-- === 0) resolve(given ?? {})
    return new Promise(() => {})
  }
  const program = async (args) => {
${text}
  }
  program(args.args).then(() => reject(new Error('It ended without calling ' + ${JSON.stringify(tool)})), reject)
})`
