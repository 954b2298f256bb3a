/**
 * Holds what depends on the configuration, so that it can change while a process runs.
 *
 *    change()         engine idle, and configLeaveMs later
 *   current ───► older ───────────────────────────────► closed
 *
 * Each change opens a generation: a catalogue, an engine and boxes of its own. What begins later
 * begins in the newest; a run stays in the generation it began in until it comes to rest, and then
 * the generation is closed. Policy alone is that of the newest for all of them.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Catalog, openCatalog } from '#catalog'
import { type Adviser, noAdviser } from '#learn'
import { type Config, type Json, limits, type RunId } from '#model'
import { artifactsAddress, homePaths, type Store } from '#record'
import type { Capabilities, Engine, EngineParts } from '#run'
import { type Boxes, openBoxes } from '#sandbox'
import { askerOf } from '#verbs/execute'
import { result, resultText } from '#verbs/result'
import type { SessionKit, SessionParts } from './contract.ts'
import { discover } from './discover.ts'
import { pinRecord } from './pin-record.ts'

type Generation = { config: Config; catalog: Catalog; engine: Engine; boxes: Boxes }

export type Generations = {
  /** Of the newest generation, whenever one of its functions is called. */
  catalog: Catalog
  /** A run that is under way is asked for where it began. */
  engine: Engine
  config(): Config
  boxes(): Boxes
  change(config: Config): void
  close(): Promise<void>
}

type GenerationsOptions = {
  store: Store
  baseEnv: { PATH?: string; HOME?: string }
  settled: (run: RunId) => void
  log: (line: string) => void
  openEngine: (parts: EngineParts) => Engine
  /** What was learned, as it is called. */
  capabilities: Capabilities
  /** Null where no session can run here. */
  kit: SessionKit | null
  /** Without it nothing was learned. */
  adviser?: Adviser
}

export function openGenerations(first: Config, options: GenerationsOptions): Generations {
  const { store, baseEnv, settled, log, openEngine, capabilities, kit, adviser = noAdviser } = options
  const older: (Generation & { since: number })[] = []
  const open = (config: Config, catalog: Catalog, boxes: Boxes): Generation => ({
    config,
    catalog,
    boxes,
    engine: openEngine({
      store,
      boxes,
      catalog,
      config: { ...config, policy },
      settled,
      capabilities,
      ...makersOf(kit),
    }),
  })
  /** A run keeps its servers until it rests, but is judged by the newest policy: every send is. */
  const policy: Config['policy'] = {
    get permissions() {
      return current.config.policy.permissions
    },
    get rules() {
      return current.config.policy.rules
    },
  }
  const catalogOptions = {
    process: store.process,
    folder: `${first.home}/catalog`,
    boxes: { folder: `${first.home}/sandbox`, hidden: [first.home, ...(first.file === null ? [] : [first.file])] },
    pins: pinRecord(store),
    keys: homePaths(first.home).keys,
    log,
    baseEnv,
  }
  const definitions = (config: Config) => definitionsOf(store, first.home, config, () => current.catalog, kit, adviser)
  let current = open(first, openCatalog({ ...catalogOptions, ...definitions(first) }), boxesFor(first))
  let looking: NodeJS.Timeout | undefined

  const all = () => [current, ...older]
  const holderOf = (run: RunId) => all().find(({ engine }) => engine.activeRun(run) !== undefined) ?? current
  const boxesElsewhere = (boxes: Boxes) => all().some((one) => one.boxes === boxes)
  const leave = async ({ catalog, boxes }: Generation) => {
    await catalog.close()
    if (!boxesElsewhere(boxes)) await boxes.close()
  }

  const look = () => {
    const over = older.filter(({ engine, since }) => !engine.isBusy() && Date.now() - since > limits.configLeaveMs)
    for (const generation of over) {
      older.splice(older.indexOf(generation), 1)
      leave(generation).catch(({ message }) => log(`Cannot end what the configuration no longer has: ${message}`))
    }
    if (older.length > 0) return
    clearInterval(looking)
    looking = undefined
  }

  return {
    catalog: delegated(() => current.catalog),
    engine: {
      ...delegated(() => current.engine),
      resume: (run, by, live) => holderOf(run).engine.resume(run, by, live),
      activeRun: (run) => holderOf(run).engine.activeRun(run),
      isBusy: () => all().some(({ engine }) => engine.isBusy()),
      close: async () => void (await Promise.all(all().map(({ engine }) => engine.close()))),
    },
    config: () => current.config,
    boxes: () => current.boxes,
    change(config) {
      const isSame = isDeepStrictEqual(config.sandbox, current.config.sandbox)
      const next = open(config, current.catalog.next(definitions(config)), isSame ? current.boxes : boxesFor(config))
      older.push({ ...current, since: Date.now() })
      current = next
      looking ??= setInterval(look, limits.configLookMs).unref()
    },
    async close() {
      clearInterval(looking)
      await Promise.all(all().map(({ catalog }) => catalog.close()))
      await Promise.all([...new Set(all().map(({ boxes }) => boxes))].map((boxes) => boxes.close()))
    },
  }
}

function boxesFor({ sandbox: { engine, minTier }, home }: Config): Boxes {
  return openBoxes({ engine, minTier, folder: `${home}/sandbox` })
}

/** The same functions, of whatever `target` answers with when they are called. */
function delegated<Part extends Record<keyof Part, (...args: never[]) => unknown>>(target: () => Part): Part {
  const names = Object.keys(target()) as (keyof Part)[]
  return Object.fromEntries(names.map((name) => [name, (...args: never[]) => target()[name](...args)])) as Part
}

const makersOf = (kit: SessionKit | null) => (kit === null ? {} : { makers: { agent: kit.maker } })

function sessionParts(store: Store, config: Config, catalog: () => Catalog, adviser: Adviser): SessionParts {
  return {
    config,
    planOf: (run) =>
      (store.value(store.startedEvents([run as RunId]).get(run as RunId)!.plan) as { source: Json }).source,
    async discover(input) {
      const parts = { catalog: catalog(), adviser }
      return await discover(parts, input, askerOf(parts.catalog, {}))
    },
    result: (asked) => result(store, asked),
  }
}

/** What a catalogue is opened with; the home is that of the process, whatever the file says now. */
function definitionsOf(
  store: Store,
  home: string,
  config: Config,
  catalog: () => Catalog,
  kit: SessionKit | null,
  adviser: Adviser,
) {
  const { servers, knownSecrets, sandbox, taskGraph } = config
  const artifacts = artifactsAddress({ home, artifacts: config.artifacts })
  const address = taskGraph === 'sqlite' ? { file: homePaths(home).tasks } : taskGraph
  const read = (asked: object) => resultText(store, asked)
  const builtIn = { home, artifacts, taskGraph: address, resultText: read, sandbox }
  const session = kit?.servers(sessionParts(store, config, catalog, adviser)) ?? []
  return { servers, secrets: knownSecrets, builtIn, session }
}
