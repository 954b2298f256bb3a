/**
 * The engine's bytes, changed in one way: where QuickJS would throw "out of memory" or "stack
 * overflow", it traps.
 */

/**
 * What the package adds to the engine in WebAssembly: `URL`, `TextEncoder` and `TextDecoder`,
 * `structuredClone`.
 */
export const extensionNames = ['url', 'encoding', 'structured-clone'] as const

export type EngineLimit = 'memory' | 'stack'

/**
 * QuickJS reports exhaustion as an exception that a program could catch and live on with. A
 * WebAssembly trap unwinds the whole engine instead: no guest code runs after it. The sentences
 * below are the only ways in which the engine says that memory or stack are gone, so each place
 * that loads one becomes `unreachable`.
 */
const sentences: Record<string, EngineLimit> = {
  'out of memory': 'memory',
  'out of memory in regexp execution': 'memory',
  'Maximum call stack size exceeded': 'stack',
  'stack overflow': 'stack',
}

export type Engine = {
  bytes: Uint8Array<ArrayBuffer>
  /** Which limit a trap stands for, by its offset in the bytes. */
  traps: Map<number, EngineLimit>
}

const [sectionMemory, sectionCode, sectionData] = [5, 10, 11]
const [opUnreachable, opNop, opConstant] = [0x00, 0x01, 0x41]
const pageBytes = 65536

type Section = { id: number; start: number; body: number; end: number }

/**
 * The engine with a memory that never grows beyond `memoryBytesMax` and with its traps in place.
 */
export function hardenEngine(original: Uint8Array, memoryBytesMax: number): Engine {
  const bytes = boundMemory(original, Math.ceil(memoryBytesMax / pageBytes))
  const sections = sectionsOf(bytes)
  const code = sectionIn(sections, sectionCode)
  const data = sectionIn(sections, sectionData)
  const traps = new Map<number, EngineLimit>()
  for (const [sentence, limit] of Object.entries(sentences)) {
    const places = placesThatSay(bytes, code, addressOf(bytes, data, sentence))
    if (places.length === 0) throw new Error(`Cannot harden the engine: nothing in it says "${sentence}"`)
    for (const { at, length } of places) {
      bytes.fill(opNop, at, at + length)
      bytes[at] = opUnreachable
      traps.set(at, limit)
    }
  }
  return { bytes, traps }
}

/** The limit that a thrown WebAssembly.RuntimeError stands for; null for any other trap. */
export function limitOfTrap(traps: Engine['traps'], stack: string): EngineLimit | null {
  const at = /wasm-function\[\d+\]:0x([0-9a-f]+)/.exec(stack)
  return (at && traps.get(Number.parseInt(at[1]!, 16))) ?? null
}

function sectionsOf(bytes: Uint8Array): Section[] {
  const sections: Section[] = []
  for (let start = 8; start < bytes.length; ) {
    const { value, next } = readUnsigned(bytes, start + 1)
    sections.push({ id: bytes[start]!, start, body: next, end: next + value })
    start = next + value
  }
  return sections
}

function sectionIn(sections: Section[], id: number): Section {
  const section = sections.find((one) => one.id === id)
  if (section === undefined) throw new Error(`Cannot harden the engine: it has no section ${id}`)
  return section
}

/** The one memory is declared without a maximum: declare it with one. */
function boundMemory(original: Uint8Array, pagesMax: number): Uint8Array<ArrayBuffer> {
  const { start, body, end } = sectionIn(sectionsOf(original), sectionMemory)
  if (original[body] !== 1 || original[body + 1] !== 0)
    throw new Error('Cannot harden the engine: its memory is not one')
  const declared = [1, 1, ...original.subarray(body + 2, end), ...writeUnsigned(pagesMax)]
  const section = [sectionMemory, ...writeUnsigned(declared.length), ...declared]
  const bytes = new Uint8Array(original.length - (end - start) + section.length)
  bytes.set(original.subarray(0, start))
  bytes.set(section, start)
  bytes.set(original.subarray(end), start + section.length)
  return bytes
}

/** Where in the engine's memory a sentence will stand. */
function addressOf(bytes: Uint8Array, { body }: Section, sentence: string): number {
  const wanted = Buffer.from(`\0${sentence}\0`, 'latin1')
  const count = readUnsigned(bytes, body)
  let at = count.next
  for (let i = 0; i < count.value; i += 1) {
    if (bytes[at] !== 0 || bytes[at + 1] !== opConstant) break
    const address = readSigned(bytes, at + 2)
    const size = readUnsigned(bytes, address.next + 1)
    const found = Buffer.from(bytes.buffer, size.next, size.value).indexOf(wanted)
    if (found >= 0) return address.value + found + 1
    at = size.next + size.value
  }
  throw new Error(`Cannot harden the engine: it does not know "${sentence}"`)
}

/** Each `i32.const address` that is followed by the empty argument list of a call. */
function placesThatSay(bytes: Uint8Array, { body, end }: Section, address: number): { at: number; length: number }[] {
  const load = Buffer.from([opConstant, ...writeSigned(address)])
  const call = Buffer.from([opConstant, 0, 0x10])
  const code = Buffer.from(bytes.buffer, 0, end)
  const places: { at: number; length: number }[] = []
  for (let at = code.indexOf(load, body); at >= 0; at = code.indexOf(load, at + 1)) {
    const after = at + load.length
    if (code.subarray(after, after + 3).equals(call)) places.push({ at, length: load.length })
  }
  return places
}

function readUnsigned(bytes: Uint8Array, at: number): { value: number; next: number } {
  let [value, shift, next] = [0, 0, at]
  for (;;) {
    const byte = bytes[next]!
    next += 1
    value += (byte & 0x7f) * 2 ** shift
    shift += 7
    if (byte < 0x80) return { value, next }
  }
}

function readSigned(bytes: Uint8Array, at: number): { value: number; next: number } {
  const { value, next } = readUnsigned(bytes, at)
  const bits = 7 * (next - at)
  return { value: value >= 2 ** (bits - 1) ? value - 2 ** bits : value, next }
}

function writeUnsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...writeUnsigned(value >>> 7)]
}

/** Addresses are positive: one more bit keeps the sign clear. */
function writeSigned(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...writeSigned(value >>> 7)]
}
