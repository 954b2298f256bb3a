/**
 * The half of the verbs that moves runs: it opens the catalogue, the engine and boxes, and is
 * loaded when that is asked for.
 */
import type { Config } from '#model'
import type { Store } from '#record'
import { loadEngine } from '#run'
import { cancelRun, decideApproval, forgetLine, settleCall, takeUp } from '#verbs/decisions'
import { execute, forkRun, pursue, replayRun, resume } from '#verbs/execute'
import { named } from '#verbs/preview'
import { aboutRun, announce } from '#verbs/views'
import type { RecordVerbs, Surroundings, Verbs } from './contract.ts'
import { discover } from './discover.ts'
import { openGenerations } from './generations.ts'
import { openPassthroughVerbs } from './passthrough.ts'
import { projectRuns } from './project-runs.ts'
import { id } from './record-verbs.ts'
import { sweepBeside } from './sweep-artifacts.ts'
import { openToolVerbs } from './tool-verbs.ts'

/** `record` is closed together with what comes back. */
export async function openMovingVerbs(
  { record, store }: { record: RecordVerbs; store: Store },
  config: Config,
  { path, home, settled, sessions, log = () => {} }: Surroundings,
): Promise<Verbs> {
  const [{ openEngine }, kit] = await Promise.all([loadEngine(), sessions?.() ?? null])
  const baseEnv = { ...(path === undefined ? {} : { PATH: path }), ...(home === undefined ? {} : { HOME: home }) }
  const options = { store, baseEnv, log, openEngine, kit }
  const generations = openGenerations(config, { ...options, settled: (run) => settled?.(verbs, run) })
  const { catalog, engine } = generations
  const endProjection = config.projectRuns ? projectRuns(store, config, log) : async () => {}
  const leaving = new AbortController()
  const parts = {
    store,
    engine,
    catalog,
    get policy() {
      return generations.config().policy
    },
    leaving: leaving.signal,
  }
  let closing: Promise<void> | undefined
  let changed = () => {}
  const letGo = () => {
    leaving.abort()
    return engine.close()
  }
  const close = async () => {
    await letGo()
    await generations.close()
    await endProjection()
    await record.close()
  }
  const verbs: Verbs = {
    ...record,
    ...openToolVerbs({ catalog, store, config: generations.config }),
    passthrough: openPassthroughVerbs(catalog),
    discover: (input) => discover(catalog, input),
    execute: (input, caller) => execute(parts, input, caller),
    pursue: (pursuit, caller) => pursue(parts, pursuit, caller),
    resume: (run, caller) => resume(parts, id(run), caller, caller.waitMs ?? null),
    cancel: (run, caller, reason) => aboutRun(store, id(run), () => cancelRun(parts, id(run), caller, reason)),
    fork: (run, at, args, caller) => forkRun(parts, id(run), at, args, caller),
    replay: (run) => aboutRun(store, id(run), () => replayRun(parts, id(run))),
    settle: (run, call, settling, caller, goOn) =>
      aboutRun(store, id(run), () => settleCall(parts, id(run), call, settling, caller, goOn)),
    decide: (approval, decision, caller, goOn) => decideApproval(parts, approval, decision, caller, goOn),
    forget: (line, caller) => forgetLine(store, line, caller),
    // By the policy that holds now, which may be of a later configuration than the record was
    // opened with.
    named: (approvals) => named(parts, approvals),
    serveAt: (url, resumes) => {
      const say = () => announce(store, { url, servers: resumes ? catalog.digests() : null })
      const undo = [say(), sweepBeside({ ...record, store }, config, log), ...(resumes ? [takeUp(parts, log)] : [])]
      changed = say
      return () => {
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
      // Boxes of another configuration are tested before somebody asks whether they hold.
      void generations
        .boxes()
        .isolation()
        .catch(() => {})
    },
    health: () => generations.boxes().health(),
    letGo,
    close: () => (closing ??= close()),
  }
  return verbs
}
