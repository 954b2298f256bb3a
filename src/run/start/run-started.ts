/**
 * How a run begins: what is asked for, narrowed to what is given, without its secrets, as the first
 * event of its chain.
 */
import type { Attendant, Catalog } from '#catalog'
import {
  type Actor,
  AppError,
  type Budget,
  type Config,
  type EventBodies,
  type Json,
  limits,
  type PermissionSet,
  type Plan,
  toText,
} from '#model'
import { type Chain, loadSecrets, type SealedSecret, type Secrets } from '#record'
import { mockedArguments } from '#run/calls'
import type { Mocks } from '#run/input'
import { narrower } from '#run/policy'
import type { Prepared } from '#run/program'

const { openSecrets } = await loadSecrets()

/** What is to run: a plan, or a capability that becomes one. */
export type AskedPlan = Plan | { kind: 'capability'; id: string }

export type RunRequest = {
  plan: Plan
  intent: string | null
  args: Json
  /** The capability whose source the plan is. */
  capability?: string
  /** How sure it was, where an intent alone recalled it. */
  speculated?: number
  actor: Actor
  permissions?: PermissionSet
  budget?: Partial<Budget>
  key?: string
  traceparent?: string
  attendant?: Attendant
  /** A dry run: nothing is called. */
  mocks?: Mocks
  /** How many paths are looked for where the plan is to be explored. */
  maxBranches?: number
}

export type AskedRequest = Omit<RunRequest, 'plan'> & { plan: AskedPlan }

type Sealing = Pick<Chain, 'seal' | 'sealed'>

export function secretsOf(seed: string, chain: Sealing, { record, knownSecrets }: Config): Secrets {
  return openSecrets({ patterns: record.secrets, known: knownSecrets, seed, chain })
}

export function startedBody(
  request: RunRequest,
  { kind, source, digest, engine, isolation }: Prepared,
  seed: string,
  config: Config,
  catalog: Catalog,
): EventBodies['run.started'] {
  const { intent, args, capability, speculated, actor, permissions, budget, key, traceparent, mocks, maxBranches } =
    request
  if (Buffer.byteLength(toText(args)) > limits.programArgumentsBytesMax) {
    const details = `at most ${limits.programArgumentsBytesMax} bytes`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot start the run: "args" is too large, ${details}`, {
      param: 'args',
      details,
    })
  }
  return {
    intent,
    mode: modeOf(mocks, maxBranches),
    ...(mocks === undefined ? {} : { mocks }),
    ...(maxBranches === undefined ? {} : { maxBranches }),
    plan: { kind, source, digest },
    args: mockedArguments(args, mocks?.args),
    ...(capability === undefined ? {} : { capability }),
    ...(speculated === undefined ? {} : { speculated }),
    actor,
    permissions:
      permissions === undefined ? config.policy.permissions : narrower(permissions, config.policy.permissions),
    budget: narrowBudget(kind === 'agent' ? { ...config.budget, wallMs: config.agent.wallMs } : config.budget, budget),
    seed,
    engine,
    servers: catalog.digests(),
    isolation,
    ...(key === undefined ? {} : { key }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
}

export function modeOf(mocks: Mocks | undefined, maxBranches: number | undefined) {
  return mocks === undefined ? 'run' : maxBranches === undefined ? 'dry-run' : 'explore'
}

export function narrowBudget(given: Budget, asked: Partial<Budget> = {}): Budget {
  const least = (name: 'calls' | 'wallMs' | 'bytes') => Math.min(given[name], asked[name] ?? given[name])
  const bound = (name: 'tokens' | 'cost' | 'deadlineMs') => {
    const bounds = [given[name], asked[name]].filter((one) => one !== undefined)
    return bounds.length === 0 ? {} : { [name]: Math.min(...bounds) }
  }
  const counts = { calls: least('calls'), wallMs: least('wallMs'), bytes: least('bytes') }
  return { ...counts, ...bound('tokens'), ...bound('cost'), ...bound('deadlineMs') }
}

/**
 * Secrets are taken out of a request before anything of it is recorded or run; the run gets them
 * sealed.
 */
export function redactRequest(request: RunRequest, seed: string, config: Config) {
  const { seals, ...sealing } = collectSeals([])
  const secrets = secretsOf(seed, sealing, config)
  const { plan, args, intent, mocks } = request
  const open = { plan, args, intent, ...(mocks === undefined ? {} : { mocks }) }
  const clean = secrets.hide(open as unknown as Json, 'args') as unknown as RunRequest
  return { clean: { ...request, ...clean }, seals }
}

/** For what is hidden before there is a chain; `seals` begins with what was sealed elsewhere. */
export function collectSeals(known: SealedSecret[]): Sealing & { seals: Parameters<Chain['seal']>[] } {
  const seals = known.map(({ placeholder, value, server }): Parameters<Chain['seal']> => [placeholder, value, server])
  return { seals, sealed: () => known, seal: (...seal) => void seals.push(seal) }
}

/** A run goes on only with the servers it began with. */
export function checkServers({ servers: known }: EventBodies['run.started'], catalog: Catalog): void {
  const now = catalog.digests()
  const changed = Object.entries(known).filter(([server, digest]) => now[server] !== digest)
  if (changed.length === 0) return
  const servers = changed.map(([server]) => server)
  const message = `Cannot resume the run: the definition of ${servers.join(', ')} is not the one it started with; restore it, or fork the run`
  throw new AppError('CONFIG_CHANGED', message, { servers })
}
