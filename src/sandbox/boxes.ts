/** Boxes for programs: one kept warm, more while they are needed, one program in each, taken back only after a clean end. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { AppError, type IsolationReport, limits, type Program, toAppError } from '#model'
import { type Box, openBox } from './box.ts'
import { type BoxOptions, programCommand } from './command.ts'
import type { ReadyMessage } from './inside/child.ts'
import { extensionNames, hardenEngine } from './inside/engine.ts'
import { prelude } from './inside/guest.ts'
import { chooseIsolation, type Isolation, strongestBox } from './isolation.ts'
import { prepareProgram, wrapper } from './prepare.ts'
import { bootMessage, checkProgram, driveProgram, type ProgramOptions } from './program.ts'
import { warmStripper } from './strip.ts'

export type EngineIdentity = { name: string; version: string; digest: string }

export type BoxesOptions = {
  node?: string
  /** undefined: looked for in the usual places; null: none. */
  bwrap?: string | null
  poolSize?: number
  /** After how long a box that nobody needs may go. */
  idleMs?: number
}

export type Boxes = {
  engine(): Promise<EngineIdentity>
  isolation(): Promise<IsolationReport>
  program(options: ProgramOptions): Promise<Program>
  close(): Promise<void>
}

const usualPlaces = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap']

export function openBoxes(options: BoxesOptions = {}): Boxes {
  const { node = process.execPath, poolSize = limits.boxPoolSize, idleMs = limits.boxIdleMsMax } = options
  const bwrap = options.bwrap === undefined ? (usualPlaces.find(existsSync) ?? null) : options.bwrap
  warmStripper()
  const engine = once(engineIdentity)
  const all = new Set<Box>()
  const warm: Box[] = []
  const served = new WeakMap<Box, number>()
  /** How many of the warm boxes nobody needed since the last look. */
  let spare = 0
  let looking: NodeJS.Timeout | undefined
  let testing: Promise<Isolation> | null = null
  let closed = false

  async function open(box: BoxOptions): Promise<Box> {
    if (closed) throw new AppError('CANCELLED', 'Cannot open a box: the boxes are closed')
    if (all.size >= limits.boxesMax) {
      const message = `Cannot open a box: ${limits.boxesMax} are open; wait until a program has ended`
      throw new AppError('SANDBOX_SETUP_FAILED', message, { boxesMax: limits.boxesMax })
    }
    const opened = openBox(programCommand(box))
    all.add(opened)
    void opened.gone.then(() => all.delete(opened))
    await boot(opened)
    return opened
  }

  function release(box: Box, clean: boolean): void {
    const uses = (served.get(box) ?? 0) + 1
    served.set(box, uses)
    const fit = clean && box.alive && uses < limits.boxProgramsMax
    if (fit && !closed) {
      warm.push(box)
      looking ??= setInterval(look, idleMs).unref()
    } else {
      box.kill(new AppError('CANCELLED', 'Cannot use the box: it served its program'))
      void box.gone.then(refill)
    }
  }

  /** Boxes that were not needed for a while go, but for the one that is kept warm. */
  function look(): void {
    for (const box of warm.splice(0, Math.max(0, Math.min(spare, warm.length - poolSize)))) {
      box.kill(new AppError('CANCELLED', 'Cannot use the box: it was not needed'))
    }
    spare = warm.length
    if (spare > poolSize) return
    clearInterval(looking)
    looking = undefined
  }

  /** A box that was lost is replaced before anyone asks for it. */
  async function refill(): Promise<void> {
    if (closed || all.size >= poolSize) return
    try {
      release(await open((await isolation()).box), true)
    } catch {
      // Whoever needs a box next tries again, and is told.
    }
  }

  async function take(): Promise<Box> {
    for (let box = warm.pop(); box !== undefined; box = warm.pop()) {
      spare = Math.min(spare, warm.length)
      if (box.alive) return box
    }
    return open((await isolation()).box)
  }

  /** Both at once, because each takes a while: no program but ours enters the box before the probe has found it closed. */
  async function isolate(): Promise<Isolation> {
    const strongest = await strongestBox(node, bwrap)
    const opening = open(strongest).catch(toAppError)
    const chosen = await chooseIsolation(strongest, (await engine()).version)
    const opened = await opening
    if (chosen.box === strongest) return tested(chosen, opened)
    if (!(opened instanceof AppError)) release(opened, false)
    return tested(chosen, await open(chosen.box).catch(toAppError))
  }
  const isolation = once(() => {
    testing = isolate()
    return testing
  })

  /** A whole program, start to end, before the first one that counts; its box stays as the warm one. */
  async function tested(chosen: Isolation, box: Box | AppError): Promise<Isolation> {
    if (box instanceof AppError) throw box
    const source = prepareProgram('return args').source
    const echo = checkProgram({ source, args: '"echo"', seed: '0'.repeat(64), now: 0 })
    const { end } = await driveProgram(box, echo, (clean) => release(box, clean)).start()
    if (end?.ok && end.value === '"echo"') return chosen
    throw new AppError('SANDBOX_SETUP_FAILED', 'Cannot open a box: the program that tests it failed', { end })
  }

  return {
    engine,
    isolation: async () => (await isolation()).report,
    async program(options) {
      const checked = checkProgram(options)
      await isolation()
      const box = await take()
      return driveProgram(box, checked, (clean) => release(box, clean))
    },
    async close() {
      closed = true
      clearInterval(looking)
      await testing?.catch(toAppError)
      const gone = [...all].map((box) => box.gone)
      for (const box of all) box.kill(new AppError('CANCELLED', 'Cannot continue the program: the boxes are closed'))
      await Promise.all(gone)
    },
  }
}

/** Waits until the child has its engine ready. */
async function boot(box: Box): Promise<void> {
  const late = `Cannot open a box: it was not ready within ${limits.boxStartMsMax} ms`
  const timer = setTimeout(() => box.kill(new AppError('SANDBOX_SETUP_FAILED', late)), limits.boxStartMsMax)
  try {
    const ready: ReadyMessage = JSON.parse(await box.ask(JSON.stringify(bootMessage())))
    assert(ready.confined, 'the permission model of Node is a layer of every box')
  } catch (thrown) {
    const { message, context } = toAppError(thrown)
    throw new AppError('SANDBOX_SETUP_FAILED', `Cannot open a box: ${message}`, context, thrown)
  } finally {
    clearTimeout(timer)
  }
}

/** Everything that decides what a program does, given the same results: the engine, the prelude and the wrapper. */
async function engineIdentity(): Promise<EngineIdentity> {
  const require = createRequire(import.meta.url)
  const { version } = require('quickjs-wasi/package.json')
  const hash = createHash('sha256')
  const bytesOf = (name: string) => readFile(require.resolve(`quickjs-wasi/${name}`))
  const { boot } = bootMessage()
  hash.update(hardenEngine(await bytesOf('quickjs.wasm'), boot.engineBytesMax).bytes)
  for (const name of extensionNames) hash.update(await bytesOf(`${name}.so`))
  hash.update(prelude(boot.guest)).update(JSON.stringify(boot)).update(wrapper)
  return { name: 'quickjs-wasi', version, digest: hash.digest('hex') }
}

/** What failed is tried again by whoever asks next. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null
  return () => {
    made ??= make().catch((thrown) => {
      made = null
      throw thrown
    })
    return made
  }
}
