/**
 * Names an engine by everything that decides what a program does, given the same results: another
 * digest may be another program.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { wrapper } from '#sandbox/prepare'
import { extensionNames, hardenEngine } from './inside/engine.ts'
import { prelude } from './inside/guest.ts'
import { v8Prelude } from './inside/v8-guest.ts'
import { bootMessage } from './program.ts'
import type { IsolatedVmPlace } from './v8.ts'

export type EngineIdentity = { name: string; version: string; digest: string }

export async function quickjsIdentity(): Promise<EngineIdentity> {
  const require = createRequire(import.meta.url)
  const { version } = require('quickjs-wasi/package.json')
  const hash = createHash('sha256')
  const bytesOf = (name: string) => readFile(require.resolve(`quickjs-wasi/${name}`))
  const { boot } = bootMessage(null)
  hash.update(hardenEngine(await bytesOf('quickjs.wasm'), boot.engineBytesMax).bytes)
  for (const name of extensionNames) hash.update(await bytesOf(`${name}.so`))
  hash.update(prelude(boot.guest)).update(JSON.stringify(boot)).update(wrapper)
  return { name: 'quickjs-wasi', version, digest: hash.digest('hex') }
}

/** V8 itself is Node's. */
export async function v8Identity({ version, addon }: IsolatedVmPlace): Promise<EngineIdentity> {
  const { boot } = bootMessage(null)
  const hash = createHash('sha256')
    .update(await readFile(addon))
    .update(process.versions.v8)
  hash.update(v8Prelude(boot.guest)).update(JSON.stringify(boot)).update(wrapper)
  return { name: 'isolated-vm', version, digest: hash.digest('hex') }
}
