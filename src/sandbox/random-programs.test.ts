/**
 * Programs that chance has written: calls, timers and promises in every order, for the tests that
 * compare two engines.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

export type Roll = (sides: number) => number

/** mulberry32: enough chance for a test, and the same on every machine. */
export function dice(seed: number): Roll {
  let state = seed
  return (sides) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides
  }
}

/** An expression that is a promise of something. */
function promise(roll: Roll, depth: number): string {
  const inner = () => promise(roll, depth - 1)
  const list = () => `[${Array.from({ length: 1 + roll(3) }, inner).join(', ')}]`
  const forms = [
    () => `mcp.s${roll(3)}.t${roll(3)}({ n: ${roll(100)}, chance: Math.random(), at: Date.now() })`,
    () => `sleep(${roll(50)})`,
    () => `tool('x:y', { id: crypto.randomUUID(), seen: out.length })`,
    () => `Promise.all(${list()})`,
    () => `Promise.race(${list()})`,
    () => `Promise.allSettled(${list()}).then((all) => all.map((one) => one.status))`,
    () => `Promise.any(${list()})`,
    () => `(async () => { ${block(roll, depth - 1)}\n return ${roll(9)} })()`,
    () => `${inner()}.then((v) => [v, ${roll(9)}], (e) => [e.code ?? e.name, out.length])`,
    () => `${inner()}.finally(() => { out.push('finally') })`,
    () => `new Promise((resolve) => setTimeout(() => { out.push('timer'); resolve(${inner()}) }, ${roll(20)}))`,
  ]
  return forms[depth > 0 ? roll(forms.length) : roll(3)]!()
}

function block(roll: Roll, depth: number): string {
  return Array.from({ length: 1 + roll(3) }, () => statement(roll, depth)).join('\n')
}

function statement(roll: Roll, depth: number): string {
  const one = () => promise(roll, depth)
  const more = () => block(roll, depth - 1)
  const forms = [
    () => `out.push(await ${one()})`,
    () => `try { out.push(await ${one()}) } catch (e) { out.push(e.code ?? e.name) } finally { out.push('after') }`,
    () => `loose.push(${one()}.catch((e) => e.name))`,
    () => `void ${one()}`,
    () => `for (let i = 0; i < ${1 + roll(3)}; i++) { out.push(i); ${depth > 0 ? more() : ''} }`,
    () => `if (Math.random() < 0.5) { ${depth > 0 ? more() : 'out.push(1)'} } else { out.push(Math.random()) }`,
    () => `for await (const v of (async function* () { yield 1; yield ${one()}; yield 2 })()) out.push(v)`,
    () => `for (const v of (function* () { for (let i = 0; i < 3; i++) yield i * 2 })()) out.push(v)`,
    () => `{ const id = setInterval(() => { out.push('tick'); clearInterval(id) }, ${roll(9)}); await sleep(1) }`,
    () => `console.log(out.length, new Date().toISOString())`,
    () => `if (out.length > ${30 + roll(30)}) throw new Error('enough ' + out.length)`,
    () => `queueMicrotask(() => { out.push('micro'); void mcp.micro.task({ n: out.length }) })`,
  ]
  return forms[roll(forms.length)]!()
}

export function randomProgram(roll: Roll): string {
  const part = () => `try { ${block(roll, 3)}\n } catch (e) { out.push(e.code ?? e.name) }`
  return `const out = [], loose = []\n${part()}\n${part()}\n${block(roll, 2)}\nout.push(await Promise.all(loose))\nreturn out`
}

test('randomProgram() writes the same program for the same dice, and another for others', () => {
  assert.equal(randomProgram(dice(1)), randomProgram(dice(1)))
  assert.notEqual(randomProgram(dice(1)), randomProgram(dice(2)))
})
