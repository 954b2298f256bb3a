/**
 * The statements of a program as a slice looks at them: which names each declares and takes, and
 * which tools it calls.
 */
import type { AnyNode, CallExpression, Pattern } from 'acorn'
import { readParameters } from './parameters.ts'
import type { NameResolver } from './resolve-names.ts'
import { namesIn, readScopes, type Scopes } from './scopes.ts'
import { childrenOf, eachChild, isFunction, readSyntax } from './syntax.ts'

/** A call of a tool in the text; one handed over in place of a function is a call as well. */
export type CallSite = { node: AnyNode; tool: string; given: AnyNode | null; isInFunction: boolean }

type Variable = NonNullable<ReturnType<Scopes['variableOf']>>

export type Statement = {
  node: AnyNode
  sites: CallSite[]
  declared: Set<Variable>
  /** Whether it defines functions: then who mentions what it declares may do what they do. */
  hasFunctions: boolean
  returns: boolean
  /** Names that it takes; `outside` those that stand in more than arguments of tools. */
  takes: Set<Variable>
  outside: Set<Variable>
  globals: Set<string>
}

type StatementReader = {
  scopes: Scopes
  meanings: NameResolver
  /** Whether the arguments of a call stand in the slice. */
  keepsGiven(site: CallSite): boolean
}

export function readStatement(node: AnyNode, reader: StatementReader): Statement {
  const statement: Statement = {
    node,
    sites: [],
    declared: new Set(declaredIn(node).flatMap((name) => reader.scopes.variableOf(name) ?? [])),
    hasFunctions: false,
    returns: false,
    takes: new Set(),
    outside: new Set(),
    globals: new Set(),
  }
  look(node, { reader, statement, isInFunction: false, isNested: false, isGiven: false })
  return statement
}

/** Also under `var` in a block: one that is missed here is met as a name that is taken. */
function declaredIn(node: AnyNode): Pattern[] {
  if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') return node.id ? [node.id] : []
  return node.type === 'VariableDeclaration' ? node.declarations.flatMap(({ id }) => namesIn(id)) : []
}

/**
 * `isNested`: in any function; `called` is one that is called where it stands, which runs in its
 * place.
 */
type Looking = {
  reader: StatementReader
  statement: Statement
  isInFunction: boolean
  isNested: boolean
  isGiven: boolean
  called?: AnyNode
}

function look(node: AnyNode, looking: Looking): void {
  const { statement } = looking
  if (node.type === 'Identifier') return mention(node, looking)
  if (node.type === 'ReturnStatement' && !looking.isNested) statement.returns = true
  if (isFunction(node)) statement.hasFunctions = true
  const isInFunction = looking.isInFunction || looking.called !== node
  const called = node.type === 'CallExpression' ? { called: node.callee } : {}
  const inside = isFunction(node) ? { ...looking, isInFunction, isNested: true } : { ...looking, ...called }
  const plain = node.type === 'MemberExpression' ? node.property : node.type === 'Property' ? node.key : null
  const own = node.type === 'CallExpression' ? siteOf(node, looking) : null
  if (own !== null) return lookAtSite(own, looking)
  eachChild(node, (child) => {
    const handed = node.type === 'CallExpression' && child !== node.callee ? handedSite(child, looking) : null
    if (handed !== null) statement.sites.push(handed)
    else if (child !== plain || ('computed' in node && node.computed)) look(child, inside)
    else if (node.type === 'Property' && node.shorthand) look(child, inside)
  })
}

function lookAtSite(site: CallSite, looking: Looking): void {
  const { node, given } = site
  looking.statement.sites.push(site)
  const [first] = (node as CallExpression).arguments
  if (first !== given && first !== undefined) look(first, looking)
  if (given !== null && looking.reader.keepsGiven(site)) look(given, { ...looking, isGiven: true })
}

function mention(node: Extract<AnyNode, { type: 'Identifier' }>, { reader, statement, isGiven }: Looking): void {
  const variable = reader.scopes.variableOf(node)
  if (variable === null) return void statement.globals.add(node.name)
  statement.takes.add(variable)
  if (!isGiven) statement.outside.add(variable)
}

function siteOf(node: CallExpression, { reader, isInFunction }: Looking): CallSite | null {
  const meaning = reader.meanings.of(node.callee)
  const [first, second] = node.arguments
  if (meaning?.kind === 'tool') return { node, tool: only(meaning.names), given: first ?? null, isInFunction }
  if (meaning?.kind !== 'tool function') return null
  return { node, tool: first ? only(reader.meanings.texts(first)) : '', given: second ?? null, isInFunction }
}

function handedSite(node: AnyNode, { reader }: Looking): CallSite | null {
  const meaning = reader.meanings.of(node)
  return meaning?.kind === 'tool' ? { node, tool: only(meaning.names), given: null, isInFunction: true } : null
}

/** Empty where only the run can tell which tool it is. */
function only(names: readonly (string | null)[]): string {
  return names.length === 1 ? (names[0] ?? '') : ''
}

/** Places of calls, `line:column`, that stand in a function of the program. */
export function callsInFunctions(source: string): Set<string> {
  const { root, placeOf } = readSyntax(source)
  const scopes = readScopes(root)
  const reader = { scopes, meanings: readParameters(root, scopes), keepsGiven: () => true }
  const sites = bodyOf(root).flatMap((node) => readStatement(node, reader).sites)
  const inside = sites.filter(({ isInFunction }) => isInFunction).map(({ node }) => placeOf(node.start))
  return new Set(inside.map(({ line, column }) => `${line}:${column}`))
}

/** The program's statements: the body of the one function that it is. */
export function bodyOf(root: AnyNode): AnyNode[] {
  let here = root
  while (!isFunction(here)) here = childrenOf(here)[0]!
  return here.body.type === 'BlockStatement' ? here.body.body : []
}
