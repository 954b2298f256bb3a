/** Reads the engine and its extensions from the box, and has everything compiled that is the same for every program. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { extensionNames, hardenEngine } from './engine.ts'
import { prelude } from './guest.ts'
import type { GuestLimits } from './guest-log.ts'
import { compilePrelude, type MachineParts } from './machine.ts'

const bytesOf = (name: string) => readFileSync(fileURLToPath(import.meta.resolve(`quickjs-wasi/${name}`)))

export async function loadEngine(bytesMax: number, guest: GuestLimits, onTick: () => void): Promise<MachineParts> {
  const engine = hardenEngine(bytesOf('quickjs.wasm'), bytesMax)
  const extensions = await Promise.all(
    extensionNames.map(async (name) => ({ name, wasm: await WebAssembly.compile(bytesOf(`${name}.so`)) })),
  )
  const module = await WebAssembly.compile(engine.bytes)
  return { engine, module, extensions, prelude: await compilePrelude(module, prelude(guest)), onTick }
}
