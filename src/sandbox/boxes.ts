/**
 * Boxes for programs: one kept warm, more while they are needed, one program in each, taken back
 * only after a clean end.
 */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, assert, type IsolationReport, limits, type Program, type Tier, toAppError } from '#model'
import { findBinaries, openRatchet, ownerName, reapFolders, removeFolder, usualPath } from '#sandbox/host'
import { prepareProgram, strippedInside, warmStripper } from '#sandbox/prepare'
import { type Box, openBox } from './box.ts'
import { type BoxHealth, watchHealth } from './box-health.ts'
import { addonInside, type BoxOptions, insideSource, programCommand } from './command.ts'
import { type EngineIdentity, quickjsIdentity, v8Identity } from './engine-identity.ts'
import type { ReadyMessage } from './inside/child.ts'
import { boxesToTry, chooseIsolation, type Isolation, nothingToTry, type Wanted } from './isolation.ts'
import { bootMessage, checkProgram, driveProgram, type ProgramOptions } from './program.ts'
import { startAgain } from './start-box.ts'
import { findIsolatedVm } from './v8.ts'

export type BoxesOptions = {
  node?: string
  /** undefined: looked for in the usual places; null: none. */
  bwrap?: string | null
  runsc?: string | null
  /** Which one runs programs; V8 only inside a box of the system. */
  engine?: 'quickjs' | 'v8'
  /** With `gvisor` no program runs in anything less. */
  minTier?: Tier
  /**
   * State of the workspace: the tier that was used before, and what gVisor needs. Without it
   * neither is there.
   */
  folder?: string
  poolSize?: number
  /** After how long an idle box may be closed. */
  idleMs?: number
}

export type Boxes = {
  engine(): Promise<EngineIdentity>
  isolation(): Promise<IsolationReport>
  program(options: ProgramOptions): Promise<Program>
  /** Whether a program could run now, by what became of the last box; nothing is started for it. */
  health(): BoxHealth
  close(): Promise<void>
}

export function openBoxes(options: BoxesOptions = {}): Boxes {
  const { poolSize = limits.boxPoolSize, idleMs = limits.boxIdleMsMax } = options
  const { folder = null } = options
  warmStripper()
  const v8 = once(async () => (options.engine === 'v8' ? findIsolatedVm() : null))
  const engine = once(async () => {
    const place = await v8()
    return place ? v8Identity(place) : quickjsIdentity()
  })
  const all = new Set<Box>()
  const warm: Box[] = []
  const served = new WeakMap<Box, number>()
  /** How many of the warm boxes were idle since the last look. */
  let spare = 0
  let looking: NodeJS.Timeout | undefined
  let testing: Promise<Isolation> | null = null
  let closed = false
  let counted = false
  /** Of boxes on gVisor. */
  let own: string | null = null

  async function open(box: BoxOptions): Promise<Box> {
    if (closed) throw new AppError('CANCELLED', 'Cannot open a box: the boxes are closed')
    if (all.size >= limits.boxesMax) {
      const message = `Cannot open a box: ${limits.boxesMax} are open; wait until a program has ended`
      throw new AppError('SANDBOX_SETUP_FAILED', message, { boxesMax: limits.boxesMax })
    }
    const made = openBox(programCommand(box))
    all.add(made)
    void made.gone.then(() => all.delete(made))
    await boot(made, box.addon && addonInside)
    return made
  }

  /** A failure is the machine's until a box starts; except where no further box is allowed. */
  async function attempt<Started>(start: () => Promise<Started>): Promise<Started> {
    try {
      const started = await startAgain(start)
      health.succeeded()
      return started
    } catch (thrown) {
      if (all.size < limits.boxesMax) health.failed(toAppError(thrown))
      throw thrown
    }
  }
  const openSoon = async () => {
    const { box } = await isolation()
    return attempt(() => open(box))
  }
  const health = watchHealth(() => void refill())

  function release(box: Box, clean: boolean): void {
    const uses = (served.get(box) ?? 0) + 1
    served.set(box, uses)
    const fit = clean && box.alive && uses < limits.boxProgramsMax
    if (fit && !closed) {
      warm.push(box)
      health.succeeded()
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

  /** A box that was lost is replaced before one is needed. */
  async function refill(): Promise<void> {
    if (closed || all.size >= poolSize) return
    try {
      release(await openSoon(), true)
    } catch {
      // The next request for a box tries again, and gets the error.
    }
  }

  async function take(): Promise<Box> {
    for (let box = warm.pop(); box !== undefined; box = warm.pop()) {
      spare = Math.min(spare, warm.length)
      if (box.alive) return box
    }
    return openSoon()
  }

  /**
   * Both at once, because each takes a while: no program but ours enters the box before the probe
   * has found it closed.
   */
  async function isolate(): Promise<Isolation> {
    const wanted = await wantedBy(options, (await v8())?.addon ?? null)
    own ??= wanted.folder
    const candidates = await boxesToTry(wanted)
    const [first] = candidates
    if (first === undefined) throw nothingToTry(wanted)
    const opening = open(first).catch(toAppError)
    const chosen = await chooseIsolation(candidates, await engine()).catch(toAppError)
    const made = await opening
    if (!(chosen instanceof AppError) && chosen.box === first) return tested(chosen, made)
    if (!(made instanceof AppError)) release(made, false)
    if (chosen instanceof AppError) throw chosen
    return tested(chosen, await open(chosen.box).catch(toAppError))
  }
  const isolation = once(() => {
    testing = attempt(isolate)
    return testing
  })

  /**
   * A whole program, start to end, before the first one that counts; its box stays as the warm one.
   */
  async function tested(chosen: Isolation, box: Box | AppError): Promise<Isolation> {
    if (box instanceof AppError) throw box
    const source = prepareProgram('return args').source
    const echo = checkProgram({ source, args: '"echo"', seed: '0'.repeat(64), now: 0 })
    const { end } = await driveProgram(box, echo, (clean) => release(box, clean)).start()
    if (end?.ok && end.value === '"echo"') return chosen
    throw new AppError('SANDBOX_SETUP_FAILED', 'Cannot open a box: the program that tests it failed', { end })
  }

  /** Refuses a tier weaker than one that was used here before. */
  function count({ report: { tier } }: Isolation): void {
    if (counted || folder === null) return
    createFolder(folder)
    openRatchet(folder, 'program').use(tier)
    counted = true
  }

  return {
    engine,
    isolation: async () => (await isolation()).report,
    health: health.now,
    async program(options) {
      const checked = checkProgram(options)
      count(await isolation())
      const box = await take()
      return driveProgram(box, checked, (clean) => release(box, clean))
    },
    async close() {
      closed = true
      health.close()
      clearInterval(looking)
      await testing?.catch(toAppError)
      const gone = [...all].map((box) => box.gone)
      for (const box of all) box.kill(new AppError('CANCELLED', 'Cannot continue the program: the boxes are closed'))
      await Promise.all(gone)
      if (own !== null) await removeFolder(own)
    },
  }
}

/** Counted by the process, since two may share a folder. */
let opened = 0

/** What is found of what closes boxes; what dead processes left of theirs goes. */
async function wantedBy(options: BoxesOptions, addon: string | null): Promise<Wanted> {
  const { node = process.execPath, minTier, folder: parent } = options
  const { os: bwrap, gvisor: runsc } = findBinaries({ ...options, path: usualPath })
  const inside = parent === undefined ? {} : { inside: strippedInside(insideSource, parent) }
  const wanted = { node, bwrap, runsc, folder: null, onlyGvisor: minTier === 'gvisor', addon, ...inside }
  if (runsc === null || parent === undefined || process.platform !== 'linux') return wanted
  opened += 1
  const folder = join(parent, 'programs', `${ownerName()}-${opened}`)
  await reapFolders(dirname(folder))
  createFolder(folder)
  return { ...wanted, folder }
}

function createFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    const message = `Cannot open a box: its folder cannot be created (${(error as Error).message})`
    throw new AppError('SANDBOX_SETUP_FAILED', message, { folder }, error)
  }
}

/** Waits until the child has its engine ready. */
async function boot(box: Box, addon: string | null): Promise<void> {
  const late = `Cannot open a box: it was not ready within ${limits.boxStartMsMax} ms`
  const timer = setTimeout(() => box.kill(new AppError('SANDBOX_SETUP_FAILED', late)), limits.boxStartMsMax)
  try {
    const ready: ReadyMessage = JSON.parse(await box.ask(JSON.stringify(bootMessage(addon))))
    assert(ready.confined, 'the permission model of Node is a layer of every box')
  } catch (thrown) {
    const { message, context } = toAppError(thrown)
    throw new AppError('SANDBOX_SETUP_FAILED', `Cannot open a box: ${message}`, context, thrown)
  } finally {
    clearTimeout(timer)
  }
}

/** What failed is tried again by the next caller. */
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
