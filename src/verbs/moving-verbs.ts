/**
 * The half of the verbs that moves runs: it opens the catalogue, the engine and boxes, and is
 * loaded when that is asked for.
 */
import { type Adviser, openCapabilities } from '#learn'
import type { Config } from '#model'
import type { Store } from '#record'
import { loadEngine } from '#run'
import { cancelRun, decideApproval, forgetRule, resumeAnswered, settleCall } from '#verbs/decisions'
import { askerOf, execute, forkRun, type Parts, pursue, replayRun, resume } from '#verbs/execute'
import { adviserOf, followRecord } from '#verbs/learning'
import { withPlannedTools } from '#verbs/preview'
import { aboutRun, announce } from '#verbs/views'
import { openCapabilityVerbs } from './capability-verbs.ts'
import type { RecordVerbs, Verbs, VerbsOptions } from './contract.ts'
import { discover } from './discover.ts'
import { withExposedChange } from './exposed-change.ts'
import { openGenerations } from './generations.ts'
import { openPassthroughVerbs } from './passthrough.ts'
import { projectRuns } from './project-runs.ts'
import { id } from './record-verbs.ts'
import { openSessions } from './sessions.ts'
import { sweepBeside } from './sweep-artifacts.ts'
import { openToolVerbs } from './tool-verbs.ts'
import { why } from './why.ts'

type RunVerbs = Pick<
  Verbs,
  'execute' | 'pursue' | 'resume' | 'cancel' | 'fork' | 'replay' | 'settle' | 'decide' | 'forget' | 'withPlannedTools'
>

/** `record` is closed together with what comes back. */
export async function openMovingVerbs(
  { record, store }: { record: RecordVerbs; store: Store },
  config: Config,
  { path, home, settled, sessions: kitOf, log = () => {} }: VerbsOptions,
): Promise<Verbs> {
  const [{ openEngine }, kit] = await Promise.all([loadEngine(), kitOf?.() ?? null])
  const baseEnv = { ...(path === undefined ? {} : { PATH: path }), ...(home === undefined ? {} : { HOME: home }) }
  const capabilities = openCapabilities(store, () => generations.config().learn.shared)
  let isServing = false
  const folded = (signal: AbortSignal) => learning.learnCapabilities(isServing, signal)
  const beside = workBeside(store, config, log, { folded, isServing: () => isServing })
  const adviser = adviserOf(beside.learner, config)
  const sessions = openSessions(kit, record, store, log)
  const own = { capabilities, adviser, kit: sessions.kit, settled: sessions.settling((run) => settled?.(verbs, run)) }
  const generations = withExposedChange(openGenerations(config, { store, baseEnv, log, openEngine, ...own }))
  const { catalog, engine } = generations
  const facts = () => beside.learner.knowledge()
  const secrets = () => ({ known: generations.config().knownSecrets, patterns: generations.config().record.secrets })
  const judging = { adviser, servers: () => new Set(Object.keys(catalog.digests())), runs: () => facts().runs }
  const learning = openCapabilityVerbs({ store, engine, catalog, capabilities, facts, secrets, judging })
  const leaving = new AbortController()
  const parts = partsOf(store, generations, adviser, leaving.signal)
  let closing: Promise<void> | undefined
  let changed = () => {}
  const releaseRuns = () => {
    leaving.abort()
    return engine.close()
  }
  const close = async () => {
    await releaseRuns()
    await Promise.all([beside.close(), sessions.close()])
    await generations.close()
    await record.close()
  }
  const verbs: Verbs = {
    ...record,
    ...openToolVerbs({ ...generations, store }),
    passthrough: openPassthroughVerbs(catalog),
    why: (intent, caller) => why(parts, intent, caller),
    discover: (input, caller) => discover(parts, input, askerOf(catalog, caller)),
    ...openRunVerbs(parts),
    ...learning,
    onSpeech: sessions.onSpeech,
    announceGateway: (url, resumes) => {
      const say = () => announce(store, { url, servers: resumes ? catalog.digests() : null })
      const resuming = resumes ? [resumeAnswered(parts, log)] : []
      const undo = [say(), sweepBeside({ ...record, store }, config, log), ...resuming]
      changed = say
      isServing = true
      return () => {
        isServing = false
        changed = () => {}
        for (const step of undo) step()
      }
    },
    permissions: () => generations.config().policy.permissions,
    isolation: () => generations.boxes().isolation(),
    reconfigure(next) {
      generations.change(next)
      changed()
      catalog.warmUp()
      // Boxes of another configuration are tested before it is asked whether they hold.
      void verbs.isolation().catch(() => {})
    },
    health: () => generations.boxes().health(),
    releaseRuns,
    close: () => (closing ??= close()),
  }
  return verbs
}

/** Policy and confidence are those of the configuration that holds when they are asked for. */
function partsOf(
  store: Store,
  { catalog, engine, config }: ReturnType<typeof openGenerations>,
  adviser: Adviser,
  leaving: AbortSignal,
): Parts {
  return {
    store,
    engine,
    catalog,
    adviser,
    leaving,
    get policy() {
      return config().policy
    },
    get minConfidence() {
      return config().speculate.minConfidence
    },
  }
}

/** What starts a run, moves it on or ends it, and the questions that it asks. */
function openRunVerbs(parts: Parts): RunVerbs {
  const { store } = parts
  return {
    execute: (input, caller) => execute(parts, input, caller),
    pursue: (pursuit, caller) => pursue(parts, pursuit, caller),
    resume: (run, caller) => resume(parts, id(run), caller, caller.waitMs ?? null),
    cancel: (run, caller, reason) => aboutRun(store, id(run), () => cancelRun(parts, id(run), caller, reason)),
    fork: (run, at, args, caller) => forkRun(parts, id(run), at, args, caller),
    replay: (run) => aboutRun(store, id(run), () => replayRun(parts, id(run))),
    settle: (run, call, settling, caller, goOn) =>
      aboutRun(store, id(run), () => settleCall(parts, id(run), call, settling, caller, goOn)),
    decide: (approval, decision, caller, goOn) => decideApproval(parts, approval, decision, caller, goOn),
    forget: (line, caller) => forgetRule(store, line, caller),
    // By the policy that holds now, which may be of a later configuration than the record was
    // opened with.
    withPlannedTools: (approvals) => withPlannedTools(parts, approvals),
  }
}

/** What a process does with the record beside moving runs; it ends with one last look. */
function workBeside(
  store: Store,
  config: Config,
  log: (line: string) => void,
  work: Parameters<typeof followRecord>[3],
) {
  const following = followRecord(store, config, log, work)
  const endProjection = config.projectRuns ? projectRuns(store, config, log) : async () => {}
  return {
    learner: following.learner,
    async close() {
      await endProjection()
      await following.close()
    },
  }
}
