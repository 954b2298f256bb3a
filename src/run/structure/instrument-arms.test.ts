/** A program with marks does what it did without them, and says which arms it took. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { prepareProgram } from '#sandbox'
import { markedStructure, readMark } from './structure.ts'

type Ran = { value: unknown; arms: string[] }

async function run(code: string, args: object = {}): Promise<Ran> {
  const { marked } = markedStructure(prepareProgram(code).source)
  const arms: string[] = []
  const note = (line: string) => {
    const { id, arm } = readMark(line)!
    arms.push(`${id} ${arm}`)
  }
  const f = async (value: unknown) => value
  const mcp = { a: { f, g: f, fail: () => Promise.reject(new Error('no')) } }
  const value: unknown = await runInNewContext(marked, { console: { debug: note }, args, mcp })()
  return { value, arms }
}

test('markedStructure() changes nothing about what a program does', async () => {
  const table: [code: string, args: object, value: unknown, arms: string[]][] = [
    ['if (args.a) return 1\nelse return 2', { a: 1 }, 1, ['b1 then']],
    ['return args.a ? (args.b ? 1 : 2) : 3', { a: 1 }, 2, ['b1 then', 'b2 else']],
    ['return await (args.a && args.b && mcp.a.f(1))', { a: 1, b: 1 }, 1, ['b1 then']],
    ['return await (args.a && mcp.a.f(1) && mcp.a.f(2))', { a: 1 }, 2, ['b1 then', 'b3 then']],
    ['return await (args.a || mcp.a.f(3))', {}, 3, ['b1 then']],
    ['return await (args.a ?? mcp.a.f(4))', { a: 0 }, 0, ['b1 else']],
    ['return (args.a || await mcp.a.f(0)) ? 1 : 2', {}, 2, ['b1 then', 'b3 else']],
    ['switch (args.a) { case 1: return 1; case 2: case 3: return 2; default: return 9 }', { a: 3 }, 2, ['b1 #2']],
    ['try { await mcp.a.fail() } catch { return 1 }', {}, 1, ['b1 catch']],
    ['return await mcp.a.fail().catch((e) => e.message)', {}, 'no', ['b1 catch']],
    ['return await mcp.a.fail().catch(() => ({ a: 1 }).a)', {}, 1, ['b1 catch']],
    ['return await mcp.a.fail().catch(function (e) { return 2 })', {}, 2, ['b1 catch']],
    [
      'let n = 0; for(const x of args.l)n+=x;args.l&&await mcp.a.f(1);return n',
      { l: [1, 2] },
      3,
      ['l1 some', 'b2 then'],
    ],
    ['let n = 0; while (n < 3) n++\nreturn n', {}, 3, ['l1 some']],
    ['const console = null; return args.a ? 1 : 2', {}, 2, ['b1 else']],
    ['const f = (x) => x ? { a: x } : null\nreturn f(1).a', {}, 1, ['b1 then']],
    ['return `${args.a ? "yes" : "no"}`', { a: 1 }, 'yes', ['b1 then']],
    ['for (let i = 0; i < 3; i++) if (i > 1) return i', {}, 2, ['l1 some', 'b2 else', 'b2 then']],
  ]
  for (const [code, args, value, arms] of table) assert.deepEqual(await run(code, args), { value, arms }, code)
})

test('markedStructure() leaves a program that cannot be read as it is', () => {
  const source = '(async function () { not a program'
  assert.deepEqual(markedStructure(source).marked, source)
  assert.equal(readMark('something else'), null)
})
