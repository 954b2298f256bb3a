/** Reads the code of a WebAssembly module for what it can change outside its memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

const [sectionImport, sectionExport, sectionCode] = [2, 7, 10]
const kindGlobal = 3

/**
 * The globals that it sets, by name, and whether its memory grows; refuses an instruction that
 * could change anything else.
 */
export function stateOf(bytes: Uint8Array): string[] {
  const names = new Map<number, string>()
  const found = new Set<string>()
  let imported = 0
  for (const { id, read } of sectionsOf(bytes)) {
    if (id === sectionImport) {
      for (const { kind, name } of read.list(() => readImport(read))) {
        if (kind === kindGlobal) names.set(imported++, name)
      }
    }
    if (id === sectionExport) {
      for (const { kind, name, index } of read.list(() => readExport(read))) {
        if (kind === kindGlobal) names.set(index, name)
      }
    }
    if (id === sectionCode) for (const one of read.list(() => readFunction(read)).flat()) found.add(one)
  }
  return [...found].map((one) => one.replace(/#(\d+)/, (_, index) => names.get(Number(index)) ?? `#${index}`)).sort()
}

class Reader {
  readonly bytes: Uint8Array
  at: number
  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes
    this.at = at
  }
  byte(): number {
    return this.bytes[this.at++]!
  }
  /** Signed or not: a reader that skips it does not care. */
  number(): number {
    let [value, shift, byte] = [0, 0, 0x80]
    while (byte >= 0x80) {
      byte = this.byte()
      value += (byte & 0x7f) * 2 ** shift
      shift += 7
    }
    return value
  }
  text(): string {
    const length = this.number()
    this.at += length
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString()
  }
  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: this.number() }, read)
  }
}

function* sectionsOf(bytes: Uint8Array): Generator<{ id: number; read: Reader }> {
  for (let at = 8; at < bytes.length; ) {
    const read = new Reader(bytes, at)
    const id = read.byte()
    const size = read.number()
    at = read.at + size
    yield { id, read }
  }
}

function readImport(read: Reader): { kind: number; name: string } {
  const module = read.text()
  const name = `${module}.${read.text()}`
  const kind = read.byte()
  if (kind === 0) read.number()
  else if (kind === kindGlobal) read.at += 2
  else {
    if (kind === 1) read.byte()
    const hasMaximum = read.number() % 2 === 1
    read.number()
    if (hasMaximum) read.number()
  }
  return { kind, name }
}

function readExport(read: Reader): { kind: number; name: string; index: number } {
  return { name: read.text(), kind: read.byte(), index: read.number() }
}

function readFunction(read: Reader): string[] {
  const size = read.number()
  const end = read.at + size
  read.list(() => [read.number(), read.byte()])
  const found: string[] = []
  while (read.at < end) found.push(...readInstruction(read))
  assert.equal(read.at, end, 'every instruction was read whole')
  return found
}

/**
 * How many numbers follow an instruction, where it is not alone; a table of branches ends with one
 * more.
 */
const numbers: Record<number, number> = {
  ...Object.fromEntries(
    [0x02, 0x03, 0x04, 0x0c, 0x0d, 0x0e, 0x10, 0x20, 0x21, 0x22, 0x23, 0x3f, 0x41, 0x42].map((op) => [op, 1]),
  ),
  ...Object.fromEntries([0x11, ...Array.from({ length: 23 }, (_, i) => 0x28 + i)].map((op) => [op, 2])),
}
const bytesAfter: Record<number, number> = { 67: 4, 68: 8 }
/**
 * Of those with the prefix 0xfc: the conversions, then `memory.copy` and `memory.fill`, which stay
 * within the memory.
 */
const prefixed: Record<number, number> = { 0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 10: 2, 11: 1 }

/**
 * Between those of a table, 0x25 and 0x26, and those for references and vectors, all is for the
 * stack and the memory.
 */
function plain(op: number): number | undefined {
  return op < 0xc5 && op !== 0x25 && op !== 0x26 ? (numbers[op] ?? 0) : undefined
}

function readInstruction(read: Reader): string[] {
  const op = read.byte()
  if (op === 0x24) return [`global.set #${read.number()}`]
  if (op === 0x40) return [`memory.grow ${read.number()}`]
  if (op === 0x0e) read.list(() => read.number())
  const after = op === 0xfc ? prefixed[read.number()] : plain(op)
  assert(after !== undefined, `an instruction (0x${op.toString(16)}) that is not known to change nothing`)
  for (let i = 0; i < after; i += 1) read.number()
  read.at += bytesAfter[op] ?? 0
  return []
}

/** A module with one function, `code`, over a mutable global, a table and a memory. */
function moduleOf(code: number[]): Uint8Array<ArrayBuffer> {
  const section = (id: number, ...body: number[]) => [id, body.length, ...body]
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, 1, 0x60, 0, 0),
    ...section(3, 1, 0),
    ...section(4, 1, 0x6f, 0, 1),
    ...section(5, 1, 0, 1),
    ...section(6, 1, 0x7f, 1, 0x41, 0, 0x0b),
    ...section(7, 1, 1, 0x67, kindGlobal, 0),
    ...section(10, 1, code.length + 2, 0, ...code, 0x0b),
  ])
}

test('stateOf() names what a module can change besides its memory, and refuses to overlook anything', async () => {
  const told: [number[], string[]][] = [
    [[0x41, 0, 0x41, 7, 0x36, 2, 0], []],
    [[0x41, 0x24, 0x24, 0], ['global.set g']],
    [[0x41, 1, 0x40, 0, 0x1a], ['memory.grow 0']],
  ]
  const refused = {
    'table.set': [0x41, 0, 0x41, 0, 0x25, 0, 0x26, 0],
    'table.grow': [0x41, 0, 0x25, 0, 0x41, 1, 0xfc, 15, 0, 0x1a],
  }
  for (const code of [...told.map(([code]) => code), ...Object.values(refused)]) {
    await WebAssembly.compile(moduleOf(code))
  }
  for (const [code, state] of told) assert.deepEqual(stateOf(moduleOf(code)), state)
  for (const code of Object.values(refused)) assert.throws(() => stateOf(moduleOf(code)), /not known to change nothing/)
})
