/** Which variable a name means, and everything that a variable is given. */
import type { AnyNode, Pattern } from 'acorn'
import { bare, eachChild, isFunction } from './syntax.ts'

/**
 * One way in which a variable gets a value: the value of `from` at `path`, put `under` a member of
 * it. `*` is some member. Not `exact` is what is computed from it.
 */
export type Definition = { from: AnyNode; path: string[]; under: string[]; exact: boolean }
type Variable = { name: string; definitions: Definition[] }

export type Scopes = {
  /** Null for a name that the program does not declare. */
  variableOf(identifier: AnyNode): Variable | null
  /** For what is known only when calls are looked at: parameters of functions. */
  define(pattern: Pattern, definition: Omit<Definition, 'under'>): void
}

type Scope = { names: Map<string, Variable>; above: Scope | null; isFunction: boolean }

export function readScopes(root: AnyNode): Scopes {
  const meant = new Map<AnyNode, Variable>()
  const scopes = new Map<AnyNode, Scope>()
  const outermost: Scope = { names: new Map(), above: null, isFunction: true }
  declareAll(root, outermost, scopes)
  resolveAll(root, outermost, scopes, meant)
  const variableOf = (identifier: AnyNode) => meant.get(identifier) ?? null
  const define = (pattern: Pattern, definition: Omit<Definition, 'under'>) =>
    defineAll(variableOf, pattern, { ...definition, under: [] })
  readDefinitions(root, variableOf)
  return { variableOf, define }
}

const opens = new Set([
  'BlockStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
  'SwitchStatement',
  'CatchClause',
])

function scopeFor(node: AnyNode, scope: Scope): Scope {
  if (isFunction(node)) return { names: new Map(), above: scope, isFunction: true }
  return opens.has(node.type) ? { names: new Map(), above: scope, isFunction: false } : scope
}

function declareAll(node: AnyNode, around: Scope, scopes: Map<AnyNode, Scope>): void {
  const scope = scopeFor(node, around)
  if (scope !== around) scopes.set(node, scope)
  if (node.type === 'VariableDeclaration') {
    const home = node.kind === 'var' ? nearestFunction(scope) : scope
    for (const { id } of node.declarations) declare(home, id)
  } else if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration') {
    if (node.id) declare(around, node.id)
  } else if (node.type === 'CatchClause' && node.param) declare(scope, node.param)
  if (isFunction(node)) {
    if (node.type === 'FunctionExpression' && node.id) declare(scope, node.id)
    for (const parameter of node.params) declare(scope, parameter)
  }
  eachChild(node, (child) => declareAll(child, scope, scopes))
}

function nearestFunction(scope: Scope): Scope {
  return scope.isFunction || scope.above === null ? scope : nearestFunction(scope.above)
}

function declare({ names }: Scope, pattern: Pattern): void {
  for (const { name } of namesIn(pattern)) if (!names.has(name)) names.set(name, { name, definitions: [] })
}

/** The names that a pattern binds. */
export function namesIn(pattern: Pattern): Extract<AnyNode, { type: 'Identifier' }>[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern]
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === 'RestElement' ? property.argument : property.value),
      )
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : namesIn(element)))
    case 'AssignmentPattern':
      return namesIn(pattern.left)
    case 'RestElement':
      return namesIn(pattern.argument)
    default:
      return []
  }
}

function resolveAll(node: AnyNode, around: Scope, scopes: Map<AnyNode, Scope>, meant: Map<AnyNode, Variable>): void {
  const scope = scopes.get(node) ?? around
  if (node.type === 'Identifier') {
    for (let here: Scope | null = scope; here !== null; here = here.above) {
      const variable = here.names.get(node.name)
      if (variable === undefined) continue
      meant.set(node, variable)
      break
    }
  }
  eachChild(node, (child) => resolveAll(child, scope, scopes, meant))
}

type VariableOf = Scopes['variableOf']

function readDefinitions(node: AnyNode, variableOf: VariableOf): void {
  const whole = (from: AnyNode) => ({ from, path: [], under: [], exact: true })
  switch (node.type) {
    case 'VariableDeclarator':
      if (node.init) defineAll(variableOf, node.id, whole(node.init))
      break
    case 'FunctionDeclaration':
      if (node.id) variableOf(node.id)?.definitions.push(whole(node))
      break
    case 'AssignmentExpression':
      assign(variableOf, node)
      break
    case 'ForOfStatement':
    case 'ForInStatement': {
      const [path, exact] = node.type === 'ForOfStatement' ? [['*'], true] : [[], false]
      const left = node.left.type === 'VariableDeclaration' ? node.left.declarations[0]!.id : node.left
      defineAll(variableOf, left, { from: node.right, path, under: [], exact })
      break
    }
    case 'CallExpression':
      growList(variableOf, node)
      break
    default:
      break
  }
  eachChild(node, (child) => readDefinitions(child, variableOf))
}

function defineAll(variableOf: VariableOf, pattern: Pattern, definition: Definition): void {
  const deeper = (inner: Pattern, key: string) =>
    defineAll(variableOf, inner, { ...definition, path: [...definition.path, key] })
  switch (pattern.type) {
    case 'Identifier':
      variableOf(pattern)?.definitions.push(definition)
      break
    case 'ObjectPattern':
      for (const property of pattern.properties) {
        if (property.type === 'RestElement') defineAll(variableOf, property.argument, definition)
        else deeper(property.value, keyOf(property) ?? '*')
      }
      break
    case 'ArrayPattern':
      for (const [index, element] of pattern.elements.entries()) {
        if (element?.type === 'RestElement') defineAll(variableOf, element.argument, definition)
        else if (element !== null) deeper(element, String(index))
      }
      break
    case 'AssignmentPattern':
      defineAll(variableOf, pattern.left, definition)
      defineAll(variableOf, pattern.left, { from: pattern.right, path: [], under: [], exact: true })
      break
    default:
      break
  }
}

/** The key of a property or of a member access, where the text itself says it. */
export function keyOf(node: AnyNode): string | null {
  if (node.type === 'MemberExpression' || node.type === 'Property') {
    const key = node.type === 'Property' ? node.key : node.property
    if (!node.computed && key.type === 'Identifier') return key.name
    if (key.type === 'Literal' && (typeof key.value === 'string' || typeof key.value === 'number'))
      return String(key.value)
  }
  return null
}

function assign(variableOf: VariableOf, node: Extract<AnyNode, { type: 'AssignmentExpression' }>): void {
  const definition = {
    from: node.right,
    path: [],
    under: [],
    exact: ['=', '??=', '||=', '&&='].includes(node.operator),
  }
  if (node.left.type !== 'MemberExpression') return defineAll(variableOf, node.left, definition)
  const place = memberPlace(node.left)
  if (place !== null) variableOf(place.base)?.definitions.push({ ...definition, under: place.keys })
}

/** `list.push(value)` makes the value a member of the list. */
function growList(
  variableOf: VariableOf,
  { callee, arguments: given }: Extract<AnyNode, { type: 'CallExpression' }>,
): void {
  if (callee.type !== 'MemberExpression' || !['push', 'unshift', 'add'].includes(keyOf(callee) ?? '')) return
  const place = memberPlace(callee)
  if (place === null) return
  const under = [...place.keys.slice(0, -1), '*']
  for (const from of given) {
    if (from.type !== 'SpreadElement') variableOf(place.base)?.definitions.push({ from, path: [], under, exact: true })
    else variableOf(place.base)?.definitions.push({ from: from.argument, path: ['*'], under, exact: true })
  }
}

function memberPlace(node: AnyNode): { base: AnyNode; keys: string[] } | null {
  const keys: string[] = []
  let here = bare(node)
  while (here.type === 'MemberExpression') {
    keys.unshift(keyOf(here) ?? '*')
    here = bare(here.object)
  }
  return here.type === 'Identifier' ? { base: here, keys } : null
}
