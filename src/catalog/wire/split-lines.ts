/** Cuts a stream of bytes into lines, each of bounded length. */

/** Hands over each line without its end; false once a line is longer than it may be. */
export function lineCutter(bytesMax: number, online: (line: string) => void): (chunk: Buffer) => boolean {
  let rest: Buffer[] = []
  let restBytes = 0
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      if (restBytes + end - start > bytesMax) return false
      online(Buffer.concat([...rest, chunk.subarray(start, end)]).toString('utf8'))
      rest = []
      restBytes = 0
      start = end + 1
    }
    if (start < chunk.length) rest.push(chunk.subarray(start))
    restBytes += chunk.length - start
    return restBytes <= bytesMax
  }
}

/** Keeps the last bytes of a stream, for the message that says why a server ended. */
export function tailKeeper(bytesMax: number): { add(chunk: Buffer): void; text(): string } {
  let tail = Buffer.alloc(0)
  return {
    add(chunk) {
      tail = Buffer.concat([tail, chunk]).subarray(-bytesMax)
    },
    text: () => tail.toString('utf8').trim(),
  }
}
