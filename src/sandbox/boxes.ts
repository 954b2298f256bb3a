/** Boxes for programs: one kept warm, one program in each, taken back only after a clean end. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { AppError, type IsolationReport, limits, type Program, toAppError } from '#model'
import { type Box, openBox } from './box.ts'
import { programCommand } from './command.ts'
import { prelude } from './inside/guest.ts'
import { chooseIsolation, type Isolation } from './isolation.ts'
import { prepareProgram, wrapper } from './prepare.ts'
import { bootMessage, driveProgram, type ProgramOptions } from './program.ts'

export type EngineIdentity = { name: string; version: string; digest: string }

export type BoxesOptions = {
  node?: string
  /** undefined: looked for in the usual places; null: none. */
  bwrap?: string | null
  poolSize?: number
}

export type Boxes = {
  engine(): Promise<EngineIdentity>
  isolation(): Promise<IsolationReport>
  program(options: ProgramOptions): Promise<Program>
  close(): Promise<void>
}

const usualPlaces = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap']

export function openBoxes(options: BoxesOptions = {}): Boxes {
  const { node = process.execPath, poolSize = limits.boxPoolSize } = options
  const bwrap = options.bwrap === undefined ? (usualPlaces.find(existsSync) ?? null) : options.bwrap
  const engine = once(engineIdentity)
  const isolation = once(async () => tested(await chooseIsolation(node, bwrap, (await engine()).version)))
  const all = new Set<Box>()
  const warm: Box[] = []
  let closed = false

  async function open({ box }: Isolation): Promise<Box> {
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
    if (clean && !closed && box.alive && warm.length < poolSize) warm.push(box)
    else box.kill(new AppError('CANCELLED', 'Cannot use the box: it served its program'))
    void refill()
  }

  /** A box that was lost is replaced before anyone asks for it. */
  async function refill(): Promise<void> {
    if (closed || warm.length + all.size >= poolSize) return
    try {
      release(await open(await isolation()), true)
    } catch {
      // Whoever needs a box next tries again, and is told.
    }
  }

  async function take(): Promise<Box> {
    for (let box = warm.pop(); box !== undefined; box = warm.pop()) if (box.alive) return box
    return open(await isolation())
  }

  /** A whole program, start to end, before the first one that counts; its box stays as the warm one. */
  async function tested(chosen: Isolation): Promise<Isolation> {
    const box = await open(chosen)
    const source = prepareProgram('return args').source
    const echo = driveProgram(box, { source, args: '"echo"', seed: '0'.repeat(64), now: 0 }, (clean) =>
      release(box, clean),
    )
    const { end } = await echo.start()
    if (end?.ok && end.value === '"echo"') return chosen
    throw new AppError('SANDBOX_SETUP_FAILED', 'Cannot open a box: the program that tests it failed', { end })
  }

  return {
    engine,
    isolation: async () => (await isolation()).report,
    async program(program) {
      await isolation()
      const box = await take()
      return driveProgram(box, program, (clean) => release(box, clean))
    },
    async close() {
      closed = true
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
    await box.ask(JSON.stringify(bootMessage()))
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
  for (const name of ['quickjs.wasm', 'url.so', 'encoding.so', 'structured-clone.so']) {
    hash.update(await readFile(require.resolve(`quickjs-wasi/${name}`)))
  }
  const boot = bootMessage()
  hash.update(prelude(boot.boot.guest)).update(JSON.stringify(boot)).update(wrapper)
  return { name: 'quickjs-wasi', version, digest: hash.digest('hex') }
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | null = null
  return () => {
    made ??= make()
    return made
  }
}
