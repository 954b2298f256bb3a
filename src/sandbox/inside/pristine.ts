/**
 * Puts an engine back to where it stood when it was ready for a program: nothing of the last
 * program is left, byte for byte.
 */
import type { QuickJS } from 'quickjs-wasi'

/**
 * All that a program can change in an engine is its memory and its stack pointer: its modules have
 * no other mutable global, and nothing in them writes to a table (`pristine.test.ts` reads their
 * code for that). Answers whether the engine is as it was: memory that has grown cannot shrink, and
 * an engine that has more than another is not the same.
 */
export function keepPristine(vm: QuickJS): () => boolean {
  const { memory, __stack_pointer: stackPointer } = vm._getExports()
  const pages = pagesOf(memory).map((page) => (page.equals(empty) ? empty : Buffer.from(page)))
  const stackTop = stackPointer.value
  return () => {
    const changed = pagesOf(memory)
    if (changed.length !== pages.length) return false
    for (const [at, page] of pages.entries()) if (!page.equals(changed[at]!)) changed[at]!.set(page)
    stackPointer.value = stackTop
    return true
  }
}

const pageBytes = 65536
/** Most pages are empty and stay so: they are neither kept nor written. */
const empty = Buffer.alloc(pageBytes)

function pagesOf({ buffer }: WebAssembly.Memory): Buffer[] {
  return Array.from({ length: buffer.byteLength / pageBytes }, (_, at) =>
    Buffer.from(buffer, at * pageBytes, pageBytes),
  )
}
