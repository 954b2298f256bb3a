/** Puts an engine back to where it stood when it was ready for a program: nothing of the last program is left, byte for byte. */
import type { QuickJS } from 'quickjs-wasi'

/**
 * All that a program can change in an engine is its memory and its stack pointer: its modules have no other mutable
 * global, and nothing in them writes to a table (`pristine.test.ts` reads their code for that). Answers whether the
 * engine is as it was: memory that has grown cannot shrink, and an engine that has more than another is not the same.
 */
export function keepPristine(vm: QuickJS): () => boolean {
  const { memory, __stack_pointer: stackPointer } = vm._getExports()
  const bytes = new Uint8Array(memory.buffer).slice()
  const stackTop = stackPointer.value
  return () => {
    if (memory.buffer.byteLength !== bytes.length) return false
    new Uint8Array(memory.buffer).set(bytes)
    stackPointer.value = stackTop
    return true
  }
}
