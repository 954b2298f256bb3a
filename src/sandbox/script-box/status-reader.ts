/** Lines and counted bytes from the pipe on which a box says how it is. */
export type StatusReader = {
  /** The next line; null: it ended, or says something longer than it ever would. */
  line(): Promise<string | null>
  /** Exactly so many of the next bytes. */
  bytes(count: number): AsyncGenerator<Buffer>
}

const lineBytesMax = 64

/** Reads no further than it is asked to, so that a box cannot send faster than we write. */
export function readStatus(pipe: AsyncIterable<Buffer>): StatusReader {
  const chunks = pipe[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)

  async function more(): Promise<boolean> {
    const next = await chunks.next()
    if (next.done) return false
    rest = Buffer.concat([rest, next.value])
    return true
  }

  return {
    async line() {
      for (;;) {
        const end = rest.indexOf('\n')
        if (end > lineBytesMax || (end < 0 && rest.length > lineBytesMax)) return null
        if (end >= 0) {
          const line = rest.toString('latin1', 0, end)
          rest = rest.subarray(end + 1)
          return line
        }
        if (!(await more())) return null
      }
    },
    async *bytes(count) {
      for (let left = count; left > 0; ) {
        if (rest.length === 0 && !(await more())) throw new Error('it ended in the middle of a file')
        const chunk = rest.subarray(0, left)
        rest = rest.subarray(chunk.length)
        left -= chunk.length
        yield chunk
      }
    },
  }
}
