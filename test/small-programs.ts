/**
 * Generated programs over the server of small values, each with the flows that it has: the program
 * is played here with the answers that the server will give, so that what is true is known.
 */
import { type SmallAnswer, smallAnswer } from './servers/small-values.ts'

/** `flows`: `1/items/0/v > 2/a`; where it was computed, `1 > 2/a`. */
export type SmallProgram = { code: string; intent: string; flows: string[]; calls: number; hasLoop: boolean }

type Expression = { value: unknown; text: string; from: string[]; isExact: boolean }
/** A result under a name of the program. */
type Result = { name: string; call: number; answer: SmallAnswer }

export function smallProgram(seed: number, withLoops: boolean): SmallProgram {
  return new Generator(seed, withLoops).program()
}

class Generator {
  readonly #seed: number
  readonly #withLoops: boolean
  #state: number
  #calls = 0
  #hasLoop = false
  readonly #lines: string[] = []
  readonly #results: Result[] = []
  readonly #flows: string[] = []

  constructor(seed: number, withLoops: boolean) {
    this.#seed = seed
    this.#withLoops = withLoops
    this.#state = (seed * 2654435761 + 1) >>> 0
  }

  program(): SmallProgram {
    this.#sequential()
    const steps = 2 + this.#roll(4)
    for (let step = 0; step < steps; step++) this.#step()
    const ends = this.#results.map(({ name }) => `${name}.id + ':' + ${name}.items.map((one) => one.v).join()`)
    const kept = ends.filter(() => this.#roll(2) === 0)
    this.#lines.push(
      this.#roll(4) === 0 ? `return ${this.#results.at(-1)!.name}` : `return { ends: [${kept.join(', ')}] }`,
    )
    const code = this.#lines.join('\n')
    const [calls, hasLoop] = [this.#calls, this.#hasLoop]
    return { code, intent: `try ${this.#seed}`, flows: this.#flows, calls, hasLoop }
  }

  #roll(sides: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * sides)
  }

  #step(): void {
    const forms = [this.#sequential, this.#sequential, this.#parallel, this.#helper, this.#choice, this.#pure]
    const all = this.#withLoops ? [...forms, this.#loop, this.#mapped] : forms
    all[this.#roll(all.length)]!.call(this)
  }

  #tool = () => `t${this.#roll(4)}`

  /** Arguments for the next call, and what they are in the text. */
  #arguments(results: readonly Result[] = this.#results): {
    given: Record<string, unknown>
    text: string
    made: [string, Expression][]
  } {
    const names = ['a', 'b', 'c'].slice(0, 1 + this.#roll(3))
    const made = names.map((name): [string, Expression] => [name, this.#value(results)])
    const given = Object.fromEntries(made.map(([name, { value }]) => [name, value]))
    return { given, text: `{ ${made.map(([name, { text }]) => `${name}: ${text}`).join(', ')} }`, made }
  }

  #value(results: readonly Result[]): Expression {
    const literal = this.#roll(3)
    const source = results[this.#roll(results.length)]
    const kind = source === undefined ? 0 : this.#roll(9)
    if (source === undefined || kind <= 1) return { value: literal, text: String(literal), from: [], isExact: true }
    const { name, call, answer } = source
    const { id, flag, items } = answer
    const exact = (value: unknown, path: string): Expression => {
      const text = `${name}${path.replaceAll(/\/(\d+)/g, '[$1]').replaceAll('/', '.')}`
      return { value, text, from: [`${call}${path}`], isExact: true }
    }
    const computed = (value: unknown, text: string): Expression => ({
      value,
      text,
      from: [String(call)],
      isExact: false,
    })
    if (kind === 2) return exact(id, '/id')
    if (kind === 3) return exact(items[1]!.v, '/items/1/v')
    if (kind === 4) return exact(flag, '/flag')
    if (kind === 5) return exact(items[0], '/items/0')
    if (kind === 6) return computed(`n-${id}`, `\`n-\${${name}.id}\``)
    if (kind === 7) return computed(id + 1, `${name}.id + 1`)
    return computed(
      items.reduce((sum, { v }) => sum + v, 0),
      `${name}.items.reduce((sum, { v }) => sum + v, 0)`,
    )
  }

  /** The call is made: its number, its answer, and the flows into it. */
  #called(
    tool: string,
    given: Record<string, unknown>,
    made: [string, Expression][],
  ): { call: number; answer: SmallAnswer } {
    this.#calls += 1
    const call = this.#calls
    for (const [name, { from }] of made) for (const source of from) this.#flows.push(`${source} > ${call}/${name}`)
    return { call, answer: smallAnswer(tool, given) }
  }

  #keep(name: string, made: { call: number; answer: SmallAnswer }): void {
    this.#results.push({ name, ...made })
  }

  #newName = () => `r${this.#calls + 1}`

  #sequential(): void {
    const [tool, name, { given, text, made }] = [this.#tool(), this.#newName(), this.#arguments()]
    this.#lines.push(`const ${name} = await mcp.small.${tool}(${text})`)
    this.#keep(name, this.#called(tool, given, made))
  }

  #parallel(): void {
    const before = [...this.#results]
    const parts = Array.from({ length: 2 + this.#roll(2) }, () => {
      const [tool, name, { given, text, made }] = [this.#tool(), this.#newName(), this.#arguments(before)]
      this.#keep(name, this.#called(tool, given, made))
      return { name, text: `mcp.small.${tool}(${text})` }
    })
    const names = parts.map(({ name }) => name).join(', ')
    this.#lines.push(`const [${names}] = await Promise.all([\n  ${parts.map(({ text }) => text).join(',\n  ')},\n])`)
  }

  #helper(): void {
    const [tool, helper] = [this.#tool(), `get${this.#calls}`]
    this.#lines.push(`const ${helper} = (a) => mcp.small.${tool}({ a, b: 1 })`)
    for (const _ of [1, 2]) {
      const [name, made] = [this.#newName(), this.#value(this.#results)]
      this.#lines.push(`const ${name} = await ${helper}(${made.text})`)
      this.#keep(name, this.#called(tool, { a: made.value, b: 1 }, [['a', made]]))
    }
  }

  /** Only the arm that is taken makes its call. */
  #choice(): void {
    const source = this.#results[this.#roll(this.#results.length)]!
    const name = this.#newName()
    const [yes, no] = [this.#arguments(), this.#arguments()]
    const [left, right] = [this.#tool(), this.#tool()]
    this.#lines.push(
      `let ${name}\nif (${source.name}.id > 0) {\n  ${name} = await mcp.small.${left}(${yes.text})\n} else {\n  ${name} = await mcp.small.${right}(${no.text})\n}`,
    )
    const isTaken = source.answer.id > 0
    const { given, made } = isTaken ? yes : no
    this.#keep(name, this.#called(isTaken ? left : right, given, made))
  }

  /** What stands under a name of its own before it is given on. */
  #pure(): void {
    const { name: from, call, answer } = this.#results[this.#roll(this.#results.length)]!
    const [tool, name] = [this.#tool(), this.#newName()]
    this.#lines.push(`const list${name} = ${from}.items.map(({ v }) => v).filter((v) => v > 0)`)
    this.#lines.push(`const ${name} = await mcp.small.${tool}({ n: list${name}.length, t: list${name}.join('-') })`)
    const list = answer.items.map(({ v }) => v).filter((v) => v > 0)
    const of = { from: [String(call)], isExact: false, text: '' }
    const made: [string, Expression][] = [
      ['n', { ...of, value: list.length }],
      ['t', { ...of, value: list.join('-') }],
    ]
    this.#keep(name, this.#called(tool, { n: list.length, t: list.join('-') }, made))
  }

  #loop(): void {
    this.#hasLoop = true
    const source = this.#results[this.#roll(this.#results.length)]!
    const [tool, next] = [this.#tool(), this.#tool()]
    const [one, two] = [`one${this.#calls}`, `two${this.#calls}`]
    this.#lines.push(
      `for (const ${one} of ${source.name}.items) {\n  const ${two} = await mcp.small.${tool}({ v: ${one}.v })\n  await mcp.small.${next}({ w: ${two}.id })\n}`,
    )
    for (const [index, { v }] of source.answer.items.entries()) {
      const of = { text: '', value: v, isExact: true, from: [`${source.call}/items/${index}/v`] }
      const first = this.#called(tool, { v }, [['v', of]])
      this.#called(next, { w: first.answer.id }, [['w', { ...of, from: [`${first.call}/id`] }]])
    }
  }

  #mapped(): void {
    const source = this.#results[this.#roll(this.#results.length)]!
    const [tool, name] = [this.#tool(), `all${this.#calls}`]
    this.#lines.push(
      `const ${name} = await Promise.all(${source.name}.items.map((one) => mcp.small.${tool}({ v: one.v })))`,
    )
    for (const [index, { v }] of source.answer.items.entries()) {
      const of = { text: '', value: v, isExact: true, from: [`${source.call}/items/${index}/v`] }
      this.#called(tool, { v }, [['v', of]])
    }
  }
}
