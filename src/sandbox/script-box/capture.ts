/**
 * What a script printed, as much as is kept of it: the rest is counted, and too much of it stops
 * the script.
 */
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { limits } from '#model'

export type Capture = {
  /**
   * At most this many bytes as text; what is no UTF-8 is replaced, and no character is cut in two.
   */
  text(bytesMax?: number): string
  readonly truncated: boolean
  /** When the first byte came. */
  readonly firstAt: number | null
}

export function capture(stream: Readable, onFlood: () => void): Capture {
  const kept: Buffer[] = []
  let keptBytes = 0
  let seenBytes = 0
  let firstAt: number | null = null
  stream.on('data', (chunk: Buffer) => {
    firstAt ??= performance.now()
    seenBytes += chunk.length
    const part = chunk.subarray(0, limits.scriptOutputBytesMax - keptBytes)
    if (part.length > 0) kept.push(part)
    keptBytes += part.length
    if (seenBytes > limits.scriptFloodBytesMax) onFlood()
  })
  return {
    text(bytesMax = limits.scriptOutputBytesMax) {
      const bytes = Buffer.concat(kept)
      return bytesMax < seenBytes ? new StringDecoder('utf8').write(bytes.subarray(0, bytesMax)) : bytes.toString()
    },
    get truncated() {
      return seenBytes > keptBytes
    },
    get firstAt() {
      return firstAt
    },
  }
}
