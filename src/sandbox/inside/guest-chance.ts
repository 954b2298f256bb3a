/**
 * A program's chance: `Math.random` and `crypto`, drawn from four words that the host derives from
 * the run's seed.
 */

/**
 * Runs inside the engine; see `bridge()` for what that allows. Answers the function that takes the
 * four words.
 */
export function chance(): (a: number, b: number, c: number, d: number) => void {
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, create } = Object
  const { apply } = Reflect
  const [Bytes, TypeErrorHere, RangeErrorHere] = [Uint8Array, TypeError, RangeError]
  const hexadecimal = '0123456789abcdef'
  const typed = getPrototypeOf(Uint8Array.prototype)
  const getter = (name: PropertyKey): (() => unknown) => getOwnPropertyDescriptor(typed, name)!.get!
  const [kindOf, bufferOf] = [getter(Symbol.toStringTag), getter('buffer')]
  const [offsetOf, lengthOf] = [getter('byteOffset'), getter('byteLength')]
  const integerKinds: Record<string, true> = create(null)
  const kinds =
    'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array'
  for (const kind of kinds.split(' ')) integerKinds[kind] = true

  let [a, b, c, d] = [0, 0, 0, 1]
  /** sfc32: 128 bits of state, one word a step. */
  function word(): number {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }

  const random = (): number => ((word() >>> 5) * 67108864 + (word() >>> 6)) / 9007199254740992

  function getRandomValues(view: unknown): unknown {
    const kind = apply(kindOf, view, []) as string | undefined
    if (kind === undefined || !integerKinds[kind])
      throw new TypeErrorHere('getRandomValues() fills an array of integers')
    const length = apply(lengthOf, view, []) as number
    if (length > 65536) throw new RangeErrorHere('getRandomValues() fills at most 65536 bytes')
    const bytes = new Bytes(apply(bufferOf, view, []) as ArrayBuffer, apply(offsetOf, view, []) as number, length)
    for (let i = 0; i < length; i += 1) bytes[i] = word() >>> 24
    return view
  }

  function randomUUID(): string {
    let text = ''
    for (let i = 0; i < 32; i += 1) {
      let digit = word() >>> 28
      if (i === 12) digit = 4
      if (i === 16) digit = 8 | (digit & 3)
      text += (i === 8 || i === 12 || i === 16 || i === 20 ? '-' : '') + hexadecimal[digit]
    }
    return text
  }

  defineProperty(Math, 'random', { value: random, writable: true, configurable: true, enumerable: false })
  defineProperty(globalThis, 'crypto', { value: { getRandomValues, randomUUID }, writable: true, configurable: true })

  return (...words) => {
    ;[a, b, c, d] = [words[0] | 0, words[1] | 0, words[2] | 0, words[3] | 0]
    for (let i = 0; i < 15; i += 1) word()
  }
}
