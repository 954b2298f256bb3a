/** Walks through a program once and writes down what it may do, in the order of its text. */
import type { AnyNode, CallExpression, Pattern } from 'acorn'
import { operationOf } from '#model'
import { ofInner, ofValue, type RawTest, testsOf } from './conditions.ts'
import { inputsOf } from './inputs.ts'
import type { BranchForm, BranchNode, CallNode, LoopNode, OperationNode, ParallelNode } from './node.ts'
import { type Around, NodeList } from './node-list.ts'
import type { Origins } from './origins.ts'
import type { NameResolver } from './resolve-names.ts'
import { keyOf, namesIn } from './scopes.ts'
import { childrenOf, eachChild, isFunction, type Syntax } from './syntax.ts'

const parallels = new Set(['all', 'allSettled', 'race', 'any'])
const loopForms: Record<string, LoopNode['form']> = {
  ForStatement: 'for',
  ForOfStatement: 'for-of',
  ForInStatement: 'for-in',
  WhileStatement: 'while',
  DoWhileStatement: 'do',
}

export class ProgramWalker {
  readonly #nodeList: NodeList
  readonly #syntax: Syntax
  readonly #meanings: NameResolver
  readonly #origins: Origins
  readonly #holdsCall = new Map<AnyNode, boolean>()

  constructor(syntax: Syntax, meanings: NameResolver, origins: Origins) {
    this.#nodeList = new NodeList(syntax)
    this.#syntax = syntax
    this.#meanings = meanings
    this.#origins = origins
  }

  /** `ids` tells which part of the text a node is. */
  read(root: AnyNode): ReturnType<NodeList['close']> {
    this.#walk(root, { within: null })
    const closed = this.#nodeList.close()
    return { ...closed, isWhole: closed.isWhole && !this.#meanings.isSpent && !this.#origins.isSpent }
  }

  #walk(node: AnyNode, around: Around): void {
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
        return this.#choice(node, around)
      case 'LogicalExpression':
        return this.#logical(node, around)
      case 'SwitchStatement':
        return this.#switch(node, around)
      case 'TryStatement':
        return this.#try(node, around)
      case 'CallExpression':
        return this.#call(node, around)
      case 'Identifier':
        if (!this.#handsOn(node) && this.#isLoose(node)) this.#nodeList.isWhole = false
        return
      case 'MemberExpression':
        if (keyOf(node) === 'constructor') this.#nodeList.isWhole = false
        return this.#handsOn(node) ? undefined : this.#each(node, around)
      case 'VariableDeclarator':
        this.#defaults(node.id, around)
        return node.init ? this.#bound(node.id, node.init, around) : undefined
      case 'AssignmentExpression':
        if (node.left.type === 'MemberExpression') this.#walk(node.left, around)
        return this.#bound(node.left, node.right, around)
      default:
        return this.#other(node, around)
    }
  }

  #other(node: AnyNode, around: Around): void {
    if (node.type in loopForms) return this.#loop(node, around)
    if (!isFunction(node)) return this.#each(node, around)
    for (const parameter of node.params) this.#defaults(parameter, around)
    this.#walk(node.body, around)
  }

  #each(node: AnyNode, around: Around): void {
    const plain = node.type === 'MemberExpression' ? node.property : node.type === 'Property' ? node.key : null
    for (const child of childrenOf(node)) {
      if (child === plain && 'computed' in node && !node.computed) continue
      this.#walk(child, around)
    }
  }

  /** A tool that is a value here is called wherever that goes, or never; no other is. */
  #handsOn(node: AnyNode): boolean {
    const meaning = this.#meanings.of(node)
    if (meaning?.kind !== 'tool' || meaning.names.includes(null)) return false
    this.#nodeList.handOn(node, meaning.names as string[])
    return true
  }

  /** Tools under names of the program are met again where the names are used. */
  #bound(pattern: AnyNode, value: AnyNode, around: Around): void {
    if (!this.#isTools(value) || !this.#follows(pattern)) this.#walk(value, around)
  }

  /** Whether every name in it means tools, and nothing else as well. */
  #follows(pattern: AnyNode): boolean {
    if (pattern.type === 'MemberExpression') return false
    const names = namesIn(pattern as Pattern)
    return names.length > 0 && names.every((name) => this.#isTools(name))
  }

  /** Of a pattern only the values that stand in for what is missing are code. */
  #defaults(pattern: AnyNode, around: Around): void {
    if (pattern.type === 'AssignmentPattern') this.#bound(pattern.left, pattern.right, around)
    if (pattern.type !== 'Identifier') eachChild(pattern, (child) => this.#defaults(child, around))
  }

  /**
   * Code that holds a reference to the tools may call any of them; so may code made at run time.
   */
  #isLoose(node: Extract<AnyNode, { type: 'Identifier' }>): boolean {
    if (this.#meanings.of(node)?.kind !== 'global') return this.#isTools(node)
    return ['eval', 'Function', 'globalThis', 'Reflect', 'Proxy'].includes(node.name)
  }

  #isTools(node: AnyNode): boolean {
    const kind = this.#meanings.of(node)?.kind
    return kind === 'mcp' || kind === 'cap' || kind === 'tool function' || kind === 'server' || kind === 'tool'
  }

  #branch(
    node: AnyNode,
    around: Around,
    form: BranchForm,
    asked: AnyNode | null,
    arms: string[],
    tests: () => RawTest[],
  ) {
    const condition = asked === null ? '' : this.#syntax.textOf(asked)
    const id = this.#nodeList.add<BranchNode>(node, around, { kind: 'branch', form, condition, arms, tests: [] })
    this.#nodeList.fill(id, tests)
    return (arm: string): Around => (id === null ? around : { within: id, arm })
  }

  #choice(node: Extract<AnyNode, { test: unknown; consequent: AnyNode }>, around: Around): void {
    if (node.type !== 'IfStatement' && node.type !== 'ConditionalExpression') return
    const form = node.type === 'IfStatement' ? 'if' : 'ternary'
    this.#walk(node.test, around)
    const inside = this.#branch(node, around, form, node.test, ['then', 'else'], () => this.#tests(node.test))
    this.#walk(node.consequent, inside('then'))
    if (node.alternate) this.#walk(node.alternate, inside('else'))
  }

  /** A branch only where a call depends on it: else it is part of a condition or of a value. */
  #logical(node: Extract<AnyNode, { type: 'LogicalExpression' }>, around: Around): void {
    this.#walk(node.left, around)
    if (!this.#hasCall(node.right)) return this.#walk(node.right, around)
    const forms = { '&&': 'and', '||': 'or', '??': 'nullish' } as const
    const asks = node.operator === '??' ? ({ kind: 'nothing' } as const) : undefined
    const tests = () => testsOf(node.left, this.#reading, asks)
    const inside = this.#branch(node, around, forms[node.operator], node.left, ['then', 'else'], tests)
    this.#walk(node.right, inside('then'))
  }

  #switch(node: Extract<AnyNode, { type: 'SwitchStatement' }>, around: Around): void {
    this.#walk(node.discriminant, around)
    const nameOf = (test: AnyNode | null | undefined) => (test ? `case ${this.#syntax.textOf(test)}` : 'default')
    const arms = node.cases.map(({ test }) => nameOf(test))
    if (!arms.includes('default')) arms.push('none')
    const isChain = node.discriminant.type === 'Literal' && node.discriminant.value === true
    const tests = () =>
      node.cases.flatMap(({ test }) => {
        if (isChain && test) return this.#tests(test)
        const [origin] = test ? this.#origins.of(test) : []
        if (origin?.kind !== 'literal') return []
        return ofValue(node.discriminant, this.#reading, { kind: 'equal', to: origin.value })
      })
    const inside = this.#branch(node, around, 'switch', node.discriminant, arms, tests)
    for (const { test, consequent } of node.cases)
      for (const statement of consequent) this.#walk(statement, inside(nameOf(test)))
  }

  #try(node: Extract<AnyNode, { type: 'TryStatement' }>, around: Around): void {
    const arms = ['try', ...(node.handler ? ['catch'] : []), ...(node.finalizer ? ['finally'] : [])]
    const inside = this.#branch(node, around, 'try', null, arms, () => this.#nodeList.failures(node.block))
    this.#walk(node.block, inside('try'))
    if (node.handler) this.#walk(node.handler.body, inside('catch'))
    if (node.finalizer) this.#walk(node.finalizer, inside('finally'))
  }

  #loop(node: AnyNode, around: Around): void {
    const tests = () => {
      if (node.type === 'ForOfStatement' || node.type === 'ForInStatement')
        return ofValue(node.right, this.#reading, { kind: 'items' })
      return 'test' in node && node.test ? testsOf(node.test as AnyNode, this.#reading) : []
    }
    const id = this.#nodeList.add<LoopNode>(node, around, { kind: 'loop', form: loopForms[node.type]!, tests: [] })
    this.#nodeList.fill(id, tests)
    this.#each(node, id === null ? around : { within: id })
  }

  #call(node: CallExpression, around: Around): void {
    const meaning = this.#meanings.of(node.callee)
    if (meaning?.kind === 'tool') return this.#toolCall(node, around, meaning.names, node.arguments[0])
    if (meaning?.kind === 'tool function') {
      const names = node.arguments[0] ? this.#meanings.texts(node.arguments[0]) : [null]
      return this.#toolCall(node, around, names, node.arguments[1])
    }
    const member = node.callee.type === 'MemberExpression' ? node.callee : null
    const name = member === null ? '' : (keyOf(member) ?? '')
    const whole = member === null ? null : this.#meanings.of(member.object)
    const isGlobal = whole?.kind === 'global'
    if (isGlobal && whole.name === 'Promise' && parallels.has(name)) return this.#parallel(node, around, name)
    const isCaught = node.arguments.length === { catch: 1, then: 2 }[name]
    if (isCaught) return this.#caught(node, around)
    if (meaning === null && member !== null && isOperation(name, isGlobal ? whole.name : null)) {
      return this.#operation(node, member.object, around, name)
    }
    this.#walk(node.callee, around)
    const own = meaning?.kind === 'function' && isFunction(meaning.node) ? meaning.node.params : []
    this.#given(node.arguments, around, own)
  }

  /**
   * A tool handed over in place of a function is called there: `ids.map(mcp.fs.read)`; to a
   * function of ours it is followed.
   */
  #given(given: readonly AnyNode[], around: Around, params: readonly Pattern[] = []): void {
    for (const [index, argument] of given.entries()) {
      const meaning = this.#meanings.of(argument)
      const parameter = params[index]
      if (parameter !== undefined && this.#isTools(argument) && this.#follows(parameter)) continue
      if (meaning?.kind === 'tool') this.#toolCall(argument, around, meaning.names, undefined)
      else this.#walk(argument, around)
    }
  }

  #toolCall(node: AnyNode, around: Around, names: (string | null)[], args: AnyNode | undefined): void {
    const tools = names.includes(null) ? [] : (names as string[])
    const id = this.#nodeList.add<CallNode>(node, around, { kind: 'call', tools, inputs: [] })
    const call = this.#nodeList.nodes.at(-1)!
    if (args) this.#walk(args, around)
    if (id === null || args === undefined || call.kind !== 'call') return
    this.#nodeList.later.push(() => {
      call.inputs = inputsOf(args, this.#origins, (origin) => this.#nodeList.sourceOf(origin))
    })
  }

  #parallel(node: CallExpression, around: Around, form: string): void {
    const own = { kind: 'parallel' as const, form: form as ParallelNode['form'], tests: [] }
    const id = this.#nodeList.add<ParallelNode>(node, around, own)
    if (form === 'allSettled') this.#nodeList.fill(id, () => this.#nodeList.failures(node))
    this.#given(node.arguments, id === null ? around : { within: id })
  }

  /** `.catch()`, and `.then()` with two functions, is a try of what stands before it. */
  #caught(node: CallExpression, around: Around): void {
    const { object } = node.callee as Extract<AnyNode, { type: 'MemberExpression' }>
    const inside = this.#branch(node, around, 'try', null, ['try', 'catch'], () => this.#nodeList.failures(object))
    this.#walk(object, inside('try'))
    this.#given(node.arguments.slice(0, -1), around)
    this.#given(node.arguments.slice(-1), inside('catch'))
  }

  #operation(node: CallExpression, object: AnyNode, around: Around, name: string): void {
    const isGlobal = this.#meanings.of(object)?.kind === 'global'
    if (!isGlobal) this.#walk(object, around)
    const operation = `code:${name}`
    const id = this.#nodeList.add<OperationNode>(node, around, { kind: 'operation', operation, tests: [] })
    const inside = id === null ? around : { within: id }
    if (operationOf(operation)!.takesFunction) {
      const list = isGlobal ? node.arguments[0] : object
      const items = () => (list ? ofValue(list, this.#reading, { kind: 'items' }) : [])
      if (this.#hasCall(node)) this.#nodeList.fill(id, () => [...items(), ...ofInner(object, this.#reading)])
    }
    this.#given(node.arguments, inside)
  }

  get #reading() {
    return { origins: this.#origins, meanings: this.#meanings }
  }

  #tests(condition: AnyNode): RawTest[] {
    return testsOf(condition, this.#reading)
  }

  #hasCall(node: AnyNode): boolean {
    const known = this.#holdsCall.get(node)
    if (known !== undefined) return known
    const kind = node.type === 'CallExpression' ? this.#meanings.of(node.callee)?.kind : undefined
    const found =
      kind === 'tool' ||
      kind === 'tool function' ||
      kind === 'function' ||
      childrenOf(node).some((child) => this.#hasCall(child))
    this.#holdsCall.set(node, found)
    return found
  }
}

function isOperation(name: string, global: string | null): boolean {
  const operation = operationOf(`code:${name}`)
  if (operation === undefined) return false
  return global === null
    ? operation.owners.some((owner) => owner[0]! >= 'a')
    : operation.owners.includes(global as never)
}
