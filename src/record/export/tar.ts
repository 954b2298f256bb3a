/**
 * A tar archive as a stream of bytes: ustar headers, and a pax record before each path that does
 * not fit into one.
 */
import { assert } from '#model'

/**
 * A folder has a path that ends in "/", and no content. The content must have exactly the announced
 * size.
 */
export type TarEntry = { path: string; bytes: number; content: Iterable<Uint8Array> | AsyncIterable<Uint8Array> }

const block = 512
const sizeMax = 0o77777777777

/**
 * Times, owners and modes are the same in every archive, so that the same entries give the same
 * bytes.
 */
export async function* tar(entries: Iterable<TarEntry> | AsyncIterable<TarEntry>): AsyncGenerator<Uint8Array> {
  for await (const { path, bytes, content } of entries) {
    assert(bytes <= sizeMax, 'a file of an archive is smaller than 8 GiB')
    const name = split(path)
    if (name === null) {
      const record = paxRecord('path', path)
      yield header({ prefix: '', name: 'pax' }, record.length, 'x')
      yield* [record, padding(record.length)]
    }
    yield header(name ?? { prefix: '', name: 'long' }, bytes, path.endsWith('/') ? '5' : '0')
    let count = 0
    for await (const chunk of content) {
      count += chunk.length
      yield chunk
    }
    if (count !== bytes) throw new Error(`${path} has ${count} bytes instead of ${bytes}: it changed while it was read`)
    yield padding(bytes)
  }
  yield Buffer.alloc(2 * block)
}

/** A header holds 100 bytes of a path, and 155 more in front of one of its slashes. */
function split(path: string): { prefix: string; name: string } | null {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path }
  for (let slash = path.indexOf('/'); slash >= 0 && slash < path.length - 1; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)]
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { prefix, name }
  }
  return null
}

function header({ prefix, name }: { prefix: string; name: string }, size: number, type: '0' | '5' | 'x'): Buffer {
  const bytes = Buffer.alloc(block)
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  bytes.write(name, 0)
  bytes.write(octal(type === '5' ? 0o755 : 0o644, 7), 100)
  bytes.write(octal(0, 7), 108)
  bytes.write(octal(0, 7), 116)
  bytes.write(octal(size, 11), 124)
  bytes.write(octal(0, 11), 136)
  bytes.write(' '.repeat(8), 148)
  bytes.write(`${type}`, 156)
  bytes.write('ustar\0' + '00', 257)
  bytes.write(octal(0, 7), 329)
  bytes.write(octal(0, 7), 337)
  bytes.write(prefix, 345)
  // The sum is made with blanks in its own place.
  const sum = bytes.reduce((total, byte) => total + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return bytes
}

/** "LENGTH KEY=VALUE\n", where the length counts its own digits too. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`)
  let length = rest + String(rest).length
  if (rest + String(length).length !== length) length = rest + String(length).length
  return Buffer.from(`${length} ${key}=${value}\n`)
}

function padding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block)
}
