/**
 * Random programs that reach their tools in roundabout ways: where all is said to be named, every
 * tool that is called is.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { prepareProgram } from '#sandbox'
import { dice } from '#test'
import { structureOf } from './structure.ts'

const seed = Number(process.env.SEED ?? 1)
const count = process.env.LONG === '1' ? 20_000 : 500

/** A program as text; what a name stands for is chosen before it is used. */
function programOf(roll: () => number): string {
  const pick = <Item>(list: Item[]): Item => list[Math.floor(roll() * list.length)]!
  const names: { name: string; kind: 'mcp' | 'server' | 'tool' }[] = []
  const known = (kind: string) => names.filter((one) => one.kind === kind).map(({ name }) => name)
  const server = () => pick(['a', 'b'])
  const tool = () => pick(['x', 'y', 'z'])
  const text = (of: string) =>
    pick([
      `'${of}'`,
      `'${of[0]}' + '${of.slice(1)}'`,
      `(args.no ? 'q' : '${of}')`,
      `['${of}'][0]`,
      `({ k: '${of}' }).k`,
    ])
  const ofMcp = () => pick(['mcp', 'mcp', 'mcp', '(mcp ?? null)', '[mcp][0]', ...known('mcp')])
  const ofServer = () => pick([`${ofMcp()}.${server()}`, `${ofMcp()}[${text(server())}]`, ...known('server')])
  const ofTool = (): string =>
    pick([
      `${ofServer()}.${tool()}`,
      `${ofServer()}[${text(tool())}]`,
      `cap.${tool()}`,
      `((given) => tool(${text(`${server()}:${tool()}`)}, given))`,
      `(args.no ? ${ofServer()}.${tool()} : ${ofServer()}.${tool()})`,
      ...known('tool'),
    ])
  const statement = (name: string): string => {
    const bind = (kind: 'mcp' | 'server' | 'tool', line: string) => {
      names.push({ name, kind })
      return line
    }
    const [first, second] = [ofTool(), ofTool()]
    return pick([
      () => bind('mcp', `const ${name} = ${ofMcp()}`),
      () => bind('server', `const ${name} = ${ofServer()}`),
      () => bind('tool', `let ${name} = ${first}; if (args.no) ${name} = ${second}`),
      () => bind('tool', `const { ${tool()}: ${name} } = ${ofServer()}`),
      () => bind('tool', `const { ${server()}: { ${tool()}: ${name} = ${first} } } = ${ofMcp()}`),
      () => `for (const each of [${first}, ${second}]) await each({})`,
      () => `await Promise.all([1].map(${first}))`,
      () => `await Promise.all([${first}, ${second}].map((each) => each({})))`,
      () => `const ${name} = async (f, ...rest) => f(...rest); await ${name}(${first}, {})`,
      () => `const ${name} = (m, s) => m[s].${tool()}({}); await ${name}(${ofMcp()}, ${text(server())})`,
      () => `const ${name} = new Map([['k', ${first}]]); await ${name}.get('k')({})`,
      () => `class C${name} { f = ${first}; go() { return this.f({}) } } await new C${name}().go()`,
      () => `await (async function* () { yield ${first}({}) })().next()`,
      () => `const ${name} = { m: () => ${first}({}) }; await ${name}.m()`,
      () => `await (${first}).call(null, {})`,
      () => `const ${name} = tool; await ${name}(${text(`${server()}:${tool()}`)})`,
      () => `function ${name}(m = ${ofMcp()}) { return m.${server()}.${tool()}({}) } await ${name}()`,
      () => `const ${name} = {}; ${name}.t = ${first}; await ${name}.t({})`,
    ])()
  }
  return Array.from({ length: 1 + Math.floor(roll() * 5) }, (_, at) => statement(`v${at}`)).join('\n')
}

async function calledBy(source: string): Promise<Set<string>> {
  const called = new Set<string>()
  const toolsOf = (server: string) =>
    Object.fromEntries(['x', 'y', 'z'].map((tool) => [tool, async () => called.add(`${server}:${tool}`)]))
  const mcp = { a: toolsOf('a'), b: toolsOf('b') }
  await runInNewContext(source, { mcp, cap: toolsOf('cap'), tool: async (id: string) => called.add(id), args: {} })()
  return called
}

test(`structureOf() names every tool that ${count} random programs call, where it says so, seed ${seed}`, async (t) => {
  let whole = 0
  for (let at = seed; at < seed + count; at++) {
    const code = programOf(dice(at))
    const { source } = prepareProgram(code)
    const structure = structureOf(source)
    assert.ok(structure.known, code)
    const tools = structure.nodes.flatMap((node) => (node.kind === 'call' ? [node.tools] : []))
    if (!structure.isWhole || tools.some(({ length }) => length === 0)) continue
    whole += 1
    const named = new Set([...tools, ...structure.handed.map((one) => one.tools)].flat())
    assert.deepEqual(
      [...(await calledBy(source))].filter((tool) => !named.has(tool)),
      [],
      `seed ${at}:\n${code}`,
    )
  }
  t.diagnostic(`${whole} of them are said to be whole`)
  assert.ok(whole > count / 10, 'it is said of many')
})
