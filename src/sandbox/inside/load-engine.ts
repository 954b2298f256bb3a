/**
 * Reads the engine and its extensions from the box, and has everything compiled that is the same
 * for every program.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { extensionNames, hardenEngine } from './engine.ts'
import { prelude } from './guest.ts'
import type { GuestLimits } from './guest-log.ts'
import { compilePrelude, type MachineParts } from './machine.ts'

const bytesOf = (name: string) => readFileSync(fileURLToPath(import.meta.resolve(`quickjs-wasi/${name}`)))

export type EngineBounds = {
  engineBytesMax: number
  /** Free memory that an engine begins with: one that never had to grow serves another program. */
  engineRoomBytes: number
  guest: GuestLimits
}

export async function loadEngine(bounds: EngineBounds, onTick: () => void): Promise<MachineParts> {
  const { engineBytesMax, engineRoomBytes: roomBytes, guest } = bounds
  const engine = hardenEngine(bytesOf('quickjs.wasm'), engineBytesMax)
  const extensions = await Promise.all(
    extensionNames.map(async (name) => ({ name, wasm: await WebAssembly.compile(bytesOf(`${name}.so`)) })),
  )
  const module = await WebAssembly.compile(engine.bytes)
  return { engine, module, extensions, roomBytes, prelude: await compilePrelude(module, prelude(guest)), onTick }
}
