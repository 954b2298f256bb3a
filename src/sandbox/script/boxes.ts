/**
 * Scripts in boxes. A request goes in and the script's own result comes out, with a report of how well its box was closed;
 * what is too weak, too large or too late is refused with one code each. No script runs without a box.
 */
import { join } from 'node:path'
import { AppError, type IsolationReport, limits } from '#model'
import type { Box } from './box.ts'
import { type Built, buildParts } from './build.ts'
import { chooseTier, type TriedTier, weakestTier } from './choose.ts'
import { findBinaries, writeFilter } from './find.ts'
import { notOnThisSystem } from './fix.ts'
import { fillInputs } from './inputs.ts'
import { type Interpreter, parseInterpreter } from './interpreter.ts'
import { refuseMissing } from './language.ts'
import { parseOutbound } from './outbound.ts'
import { outcomeOf, type ScriptResult } from './outcome.ts'
import { type ScriptTier, scriptTiers } from './plan.ts'
import { openPool, type Pool } from './pool.ts'
import { openRatchet } from './ratchet.ts'
import { withWayOut } from './report.ts'
import { type CheckedRequest, parseRequest, type ScriptRequest } from './request.ts'
import { type OpenTier, tryTier } from './tier.ts'
import { openTurnstile } from './turnstile.ts'
import { openWorkshop, type Workshop } from './workshop.ts'

export type ScriptBoxesOptions = {
  /** State: the root of boxes, what was compiled ahead, what was tried, and the tier that was used before. */
  folder: string
  /** No script runs at a weaker one. */
  minTier?: ScriptTier
  /** What a script may reach, as `host:port`. */
  outbound?: readonly string[]
  /** undefined: looked for in the usual places; null: none. */
  bwrap?: string | null
  runsc?: string | null
  /** A folder with the root of another system, instead of this one's `/usr`. */
  image?: string | null
  poolSize?: number
}

export type TierState = { tier: ScriptTier; ok: boolean; detail: string; fix?: string }

export type ScriptBoxes = {
  run(request: ScriptRequest): Promise<ScriptResult>
  /** Of the tier at which a script would run now. */
  isolation(): Promise<IsolationReport>
  /** Tries every tier anew. */
  test(): Promise<{ tiers: TierState[] }>
  /** Prepares what can be prepared ahead, and throws away what is older. */
  build(): Promise<Built>
  /** Resolves when a box for this language waits. */
  warm(interpreter: string, tier?: ScriptTier): Promise<void>
  /** A human says that this tier will do, though a stronger one was used before. */
  accept(tier: ScriptTier): Promise<void>
  close(): Promise<void>
}

export function openScriptBoxesWith(filter: Buffer | null, options: ScriptBoxesOptions): ScriptBoxes {
  const { folder, minTier = 'os', poolSize = limits.scriptPoolSize, image = null } = options
  const outbound = parseOutbound(options.outbound ?? [])
  const binaries = findBinaries(options)
  const turnstile = openTurnstile(limits.scriptBoxesMax, limits.scriptBoxesWaitingMax)
  const pools = new Map<string, Pool>()
  const tried = new Map<ScriptTier, Promise<TriedTier>>()
  const open = new Set<Promise<unknown>>()
  const running = new Set<Box>()
  let workshop: Promise<Workshop> | null = null
  let closed = false

  function shop(): Promise<Workshop> {
    if (closed) throw new AppError('CANCELLED', 'Cannot open a box: the sandbox was closed')
    workshop ??= openWorkshop(folder, image)
    return workshop
  }

  /** Whoever closes waits for it. */
  function track<Value>(promise: Promise<Value>): Promise<Value> {
    const settled = promise.then(
      () => {},
      () => {},
    )
    open.add(settled)
    void settled.then(() => open.delete(settled))
    return promise
  }

  function tryOne(tier: ScriptTier): Promise<TriedTier> {
    if (process.platform !== 'linux') return Promise.resolve(notOnThisSystem(tier))
    const known = tried.get(tier)
    if (known) return known
    const trying = track(
      shop().then((made) =>
        tryTier({ workshop: made, tier, binary: binaries[tier], seccomp: writeFilter(folder, filter) }),
      ),
    )
    tried.set(tier, trying)
    return trying
  }

  const choose = (requested: ScriptTier | null) => chooseTier(tryOne, { minTier, requested })

  async function openBoxAt(
    { driver }: OpenTier,
    interpreter: Interpreter,
    way?: Parameters<Workshop['open']>[2],
  ): Promise<Box> {
    const made = await shop()
    const box = await track(made.open(driver, interpreter, way))
    track(box.gone)
    if (closed) box.stop('closed')
    return box
  }

  function poolOf(tier: OpenTier, interpreter: Interpreter): Pool {
    const key = `${tier.tier} ${interpreter}`
    const pool = pools.get(key) ?? openPool(() => openBoxAt(tier, interpreter), poolSize)
    pools.set(key, pool)
    return pool
  }

  async function runIn(box: Box, request: CheckedRequest, isolation: IsolationReport): Promise<ScriptResult> {
    running.add(box)
    try {
      await fillInputs(join(box.plan.folder, 'inputs'), request.inputs)
      const end = await box.run(request.script, request.timeoutMs, request.signal)
      return outcomeOf(end, request, isolation)
    } finally {
      box.stop('closed')
      await box.gone
      running.delete(box)
    }
  }

  async function run(request: ScriptRequest): Promise<ScriptResult> {
    const checked = parseRequest(request)
    const { interpreter, network, onConnection, signal } = checked
    const hasWayOut = network === 'OUTBOUND_LIMITED'
    if (hasWayOut && outbound.length === 0) {
      const message = 'Cannot give the script a network: nothing is allowed to be reached (sandbox.outbound is empty)'
      throw new AppError('PERMISSION_DENIED', message, { network })
    }
    const tier = await choose(checked.tier)
    refuseMissing(await shop(), hasWayOut ? [interpreter, 'python'] : [interpreter])
    openRatchet(folder).use(tier.tier)
    await turnstile.enter(signal)
    try {
      const way = { allowed: outbound, onConnection }
      const box = hasWayOut ? await openBoxAt(tier, interpreter, way) : await poolOf(tier, interpreter).take()
      return await runIn(box, checked, hasWayOut ? withWayOut(tier.report) : tier.report)
    } finally {
      turnstile.leave()
    }
  }

  return {
    run: (request) => track(run(request)),
    isolation: async () => (await choose(null)).report,
    async test() {
      tried.clear()
      const all: TierState[] = []
      for (const one of scriptTiers) {
        const { tier, ok, detail, ...rest } = await tryOne(one)
        all.push({ tier, ok, detail, ...('fix' in rest ? { fix: rest.fix } : {}) })
      }
      return { tiers: all }
    },
    build: () => track(shop().then(async (made) => buildParts(made, (await weakestTier(tryOne)).driver))),
    async warm(interpreter, tier) {
      const language = parseInterpreter(interpreter)
      const chosen = await choose(tier ?? null)
      refuseMissing(await shop(), [language])
      await poolOf(chosen, language).fill()
    },
    async accept(tier) {
      await shop()
      openRatchet(folder).accept(tier)
    },
    async close() {
      closed = true
      for (const pool of pools.values()) pool.close()
      for (const box of running) box.stop('closed')
      while (open.size > 0) await Promise.all(open)
      await workshop?.then((made) => made.close()).catch(() => {})
    },
  }
}
