/**
 * Scripts in boxes. A request goes in and the script's own result comes out, with a report of how
 * well its box was closed; what is too weak, too large or too late is refused with one code each.
 * No script runs without a box.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, type IsolationReport, limits } from '#model'
import {
  findBinaries,
  openRatchet,
  parseOutbound,
  type ScriptTier,
  scriptFilter,
  scriptRefusals,
  scriptTiers,
  usualPath,
} from '#sandbox/host'
import { type Box, giveOutputs, type Received } from '#sandbox/script-box'
import { openBoundedSemaphore } from './bounded-semaphore.ts'
import { type BoxExtras, type BoxFactory, openBoxFactory } from './box-factory.ts'
import { type Built, buildParts } from './build.ts'
import { chosenImage } from './image.ts'
import { fillInputs } from './inputs.ts'
import { parseInterpreter } from './interpreter.ts'
import { type LanguageState, languageStates, refuseMissing } from './language.ts'
import { outcomeOf, type ScriptResult } from './outcome.ts'
import { openPools } from './pools.ts'
import { withWayOut } from './report.ts'
import { type CheckedRequest, parseRequest, type ScriptRequest } from './request.ts'
import { openTiers } from './tiers.ts'

export type ScriptBoxesOptions = {
  /**
   * State: the root of boxes, what was compiled ahead, what was tried, and the tier that was used
   * before.
   */
  folder: string
  /** No script runs at a weaker one. */
  minTier?: ScriptTier
  /** What a script may reach, as `host:port`. */
  outbound?: readonly string[]
  /**
   * Where programs are looked for, as in PATH; beside it, where Métier itself may have put them.
   */
  path?: string
  /** undefined: looked for; null: none. */
  bwrap?: string | null
  runsc?: string | null
  /**
   * A folder with the root of another system, instead of this one's `/usr`; undefined: what was
   * chosen here, null: this one.
   */
  image?: string | null
  poolSize?: number
}

type TierState = { tier: ScriptTier; ok: boolean; detail: string; fix?: string }

export type ScriptBoxes = {
  run(request: ScriptRequest): Promise<ScriptResult>
  /** Of the tier at which a script would run now. */
  isolation(): Promise<IsolationReport>
  /** Tries every tier again, whatever is remembered of it. */
  test(): Promise<{ tiers: TierState[] }>
  /** Which languages a script can be in, and what helps where one cannot. */
  languages(): Promise<LanguageState[]>
  /** Prepares what can be prepared ahead, and throws away what is older. */
  build(signal?: AbortSignal): Promise<Built>
  /** Resolves when a box for this language waits. */
  warm(interpreter: string, tier?: ScriptTier): Promise<void>
  /** A human says that this tier will do, though a stronger one was used before. */
  accept(tier: ScriptTier): Promise<void>
  close(): Promise<void>
}

export function openScriptBoxes(options: ScriptBoxesOptions): ScriptBoxes {
  const { folder, minTier = 'os', poolSize = limits.scriptPoolSize, path = usualPath } = options
  const outbound = parseOutbound(options.outbound ?? [])
  let opened: Promise<BoxFactory> | null = null
  const closing = new AbortController()
  const busy = new Set<Promise<unknown>>()

  async function factory(): Promise<BoxFactory> {
    if (closing.signal.aborted) throw new AppError('CANCELLED', 'Cannot open a box: the sandbox was closed')
    opened ??= openBoxFactory({
      folder,
      image: options.image === undefined ? chosenImage(folder) : options.image,
      path,
    })
    return opened
  }
  const filter = { program: scriptFilter(), names: scriptRefusals }
  const tiers = openTiers({ factory, binaries: findBinaries({ ...options, path }), filter, minTier })
  const pools = openPools(factory, poolSize)
  const semaphore = openBoundedSemaphore(limits.scriptBoxesMax, limits.scriptBoxesWaitingMax)
  const context: Context = { folder, outbound, factory, tiers, pools, semaphore }

  /** Closing waits for it. */
  async function working<Value>(work: Promise<Value>): Promise<Value> {
    busy.add(work)
    try {
      return await work
    } finally {
      busy.delete(work)
    }
  }

  async function build(signal = closing.signal): Promise<Built> {
    const { driver } = await tiers.weakest()
    return buildParts(await factory(), driver, AbortSignal.any([signal, closing.signal]))
  }

  return {
    run: (request) => working(run(context, request)),
    isolation: () => working(tiers.choose(null).then(({ report }) => report)),
    test: () => working(testTiers(tiers)),
    languages: async () => languageStates(await factory()),
    build: (signal) => working(build(signal)),
    async warm(name, tier) {
      const interpreter = parseInterpreter(name)
      const chosen = await working(tiers.choose(tier ?? null))
      refuseMissing(await factory(), [interpreter])
      await pools.fill(chosen, interpreter)
    },
    async accept(tier) {
      await factory()
      openRatchet(folder, 'script').accept(tier)
    },
    async close() {
      closing.abort()
      await pools.close()
      await Promise.allSettled(busy)
      await pools.close()
      await opened?.then(
        (made) => made.close(),
        () => {}, // it never opened
      )
    },
  }
}

type Context = {
  folder: string
  /** What a script may reach. */
  outbound: ReturnType<typeof parseOutbound>
  factory: () => Promise<BoxFactory>
  tiers: ReturnType<typeof openTiers>
  pools: ReturnType<typeof openPools>
  semaphore: ReturnType<typeof openBoundedSemaphore>
}

async function run({ folder, outbound, ...context }: Context, request: ScriptRequest): Promise<ScriptResult> {
  const checked = parseRequest(request)
  const { interpreter, network, onConnection } = checked
  const wayOut = network === 'NONE' ? undefined : { allowed: outbound, onConnection }
  if (wayOut && outbound.length === 0) {
    const message = 'Cannot give the script a network: nothing may be reached (sandbox.outbound is empty)'
    throw new AppError('PERMISSION_DENIED', message, { network })
  }
  const tier = await context.tiers.choose(checked.tier)
  refuseMissing(await context.factory(), wayOut ? [interpreter, 'python'] : [interpreter])
  openRatchet(folder, 'script').use(tier.tier)
  const leave = await context.semaphore.enter(checked.signal)
  try {
    const box = await context.pools.take(tier, interpreter, extrasOf(checked, wayOut))
    return await runIn(box, checked, wayOut ? withWayOut(tier.report) : tier.report)
  } finally {
    leave()
  }
}

async function testTiers(tiers: Context['tiers']): Promise<{ tiers: TierState[] }> {
  const all: TierState[] = []
  for (const one of scriptTiers) {
    const tried = await tiers.try(one, true)
    all.push({ tier: one, ok: tried.ok, detail: tried.detail, ...(tried.ok ? {} : { fix: tried.fix }) })
  }
  return { tiers: all }
}

function extrasOf({ outputs, workspace: view, script: text }: CheckedRequest, wayOut: BoxExtras['wayOut']): BoxExtras {
  return { outputs, ...(wayOut && { wayOut }), ...(view && { workspace: { view, text } }) }
}

const nothing: Received = { files: [], missing: [] }

async function runIn(box: Box, request: CheckedRequest, isolation: IsolationReport): Promise<ScriptResult> {
  try {
    await fillInputs(join(box.plan.folder, 'inputs'), request.inputs)
    const end = await box.run(request.script, request.timeoutMs, request.signal)
    const outcome = outcomeOf(end, request, isolation)
    const received = end.outputs instanceof Error || end.outputs === null ? nothing : end.outputs
    return { ...outcome, outputs: await giveOutputs(received, request.onOutput), missing: received.missing }
  } finally {
    box.stop('closed')
    await box.gone
    if (box.plan.outputs) await rm(box.plan.outputs.folder, { recursive: true, force: true })
  }
}
