/**
 * The part of WebAssembly that the box uses: Node has it, the types of neither the language nor
 * Node do.
 */
declare namespace WebAssembly {
  interface Module {
    readonly __brand: 'Module'
  }
  interface Memory {
    readonly buffer: ArrayBuffer
  }
  type ImportValue = (...values: never[]) => number
  class RuntimeError extends Error {}
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>
}
type BufferSource = ArrayBuffer | ArrayBufferView
