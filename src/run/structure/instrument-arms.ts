/**
 * A program in which every arm of a branch says that it is taken, the first time it is; for
 * exploring, where nothing is recorded.
 */
import type { AnyNode } from 'acorn'
import { limits } from '#model'
import { isFunction } from './syntax.ts'

/**
 * Where two stand at one place: what closes comes first, and of what opens that which reaches
 * further.
 */
type Insert = { at: number; text: string; closes: boolean; reach: number }

const sign = '\u0001arm '

/**
 * Stands around the program, on the wrapper's own lines: no line of the program moves, and no name
 * of it hides the console. What the program itself logs goes nowhere, so that its arms are heard
 * however much that is. A failure is told a few times: to fail once more and give up is another
 * path.
 */
const opening = '(($$arm, console) => '
const closing = `)(((debug, seen) => {
  const say = (id, arm) => {
    const key = id + ' ' + arm
    seen[key] = (seen[key] || 0) + 1
    if (seen[key] <= (arm === 'catch' ? ${limits.exploreCallsPerPlaceMax} : 1)) debug(${JSON.stringify(sign)} + key)
  }
  return (id, form, value) => {
    if (form === 'if') say(id, value ? 'then' : 'else')
    else if (form === 'or') say(id, value ? 'else' : 'then')
    else if (form === 'nullish') say(id, value === undefined || value === null ? 'then' : 'else')
    else say(id, form)
    return value
  }
})(console.debug, { __proto__: null }), new Proxy(console, { get: () => () => {} }))`

/** `ids` names the branches and loops; an arm of a switch is told by its number. */
export function instrumentArms(source: string, ids: ReadonlyMap<AnyNode, string>): string {
  const inserts = [...ids].flatMap(([node, id]) => insertsFor(node, id))
  inserts.sort((a, b) => a.at - b.at || Number(b.closes) - Number(a.closes) || b.reach - a.reach)
  let text = ''
  let last = 0
  for (const { at, text: added } of inserts) {
    text += source.slice(last, at) + added
    last = at
  }
  return `${opening}${text}${source.slice(last)}${closing}`
}

/** What a line of the log says about an arm; null where it says something else. */
export function readMark(line: string): { id: string; arm: string } | null {
  if (!line.startsWith(sign)) return null
  const [id, arm] = line.slice(sign.length).split(' ')
  return { id: id!, arm: arm! }
}

function insertsFor(node: AnyNode, id: string): Insert[] {
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return around(node.test, `$$arm("${id}","if",(`, '))')
    case 'LogicalExpression': {
      const form = { '&&': 'if', '||': 'or', '??': 'nullish' }[node.operator]
      return around(node.left, `$$arm("${id}","${form}",(`, '))')
    }
    case 'SwitchStatement':
      return node.cases.map(({ consequent: [first], end }, index) =>
        before(first?.start ?? end, `$$arm("${id}","#${index}");`),
      )
    case 'TryStatement':
      return node.handler ? [before(node.handler.body.start + 1, `$$arm("${id}","catch");`)] : []
    case 'CallExpression':
      return id.startsWith('b') && node.arguments[0] ? inFunction(node.arguments.at(-1)!, id) : []
    default:
      return id.startsWith('l') && 'body' in node ? inLoop(node.body as AnyNode, id) : []
  }
}

function around({ start, end }: AnyNode, open: string, close: string): Insert[] {
  const reach = end - start
  return [
    { at: start, text: open, closes: false, reach },
    { at: end, text: close, closes: true, reach },
  ]
}

function before(at: number, text: string): Insert {
  return { at, text, closes: false, reach: Number.POSITIVE_INFINITY }
}

/** The handler of a `.catch()` or of a `.then()`, where it is written there. */
function inFunction(node: AnyNode, id: string): Insert[] {
  if (!isFunction(node)) return []
  const said = `$$arm("${id}","catch")`
  if (node.body.type === 'BlockStatement') return [before(node.body.start + 1, `${said};`)]
  return around(node.body, `(${said},(`, '))')
}

function inLoop(body: AnyNode, id: string): Insert[] {
  const said = `$$arm("${id}","some");`
  return body.type === 'BlockStatement' ? [before(body.start + 1, said)] : around(body, `{${said}`, '}')
}
