/**
 * Judges capabilities by what they would have changed: over past runs whose intents are like their
 * own, but whose programs were others, each is tried against the recorded answers. What failed then
 * and goes well with it is a repair, the other way round a regression.
 */
import { type Adviser, type Capability, type HomeCapabilities, idOf, interventionOf } from '#learn'
import { AppError, type EventBodies, type Json, limits, type RunId } from '#model'
import type { Store } from '#record'
import type { Attempt, Engine } from '#run'

type PastRun = {
  run: string
  n: number
  intent: string | null
  subject: string | null
  kind: string
  shape?: string
  status: string
}
type JudgedRuns = { runs: readonly PastRun[] }
export type Judging = {
  adviser: Adviser
  servers(): ReadonlySet<string>
  runs(): JudgedRuns['runs']
}

type Parts = { engine: Pick<Engine, 'attempt'>; store: Store; capabilities: HomeCapabilities; judging: Judging }

export type Judge = {
  /** Looks at runs that were closed since; answers with the demotions that follow. */
  look(signal?: AbortSignal): Promise<EventBodies['capability.changed'][]>
  verdictsOn(capability: Capability): readonly Attempt[]
}

const likenessMin = 0.5

export function openJudge({ engine, store, capabilities, judging }: Parts): Judge {
  const verdicts = new Map<string, Attempt[]>()
  let after = -1

  const attempt = async (run: string, one: Capability, args: Json): Promise<Attempt> => {
    try {
      return await engine.attempt(run as RunId, one.source, args)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return 'unknown'
    }
  }
  /** Those that its intent recalls with every parameter bound, and that it did not teach. */
  const rivalsOf = ({ intent, subject, shape }: PastRun) =>
    judging.adviser
      .recall(intent!, { subject, servers: judging.servers() })
      .filter(({ capability, likeness, missing }) => {
        return likeness >= likenessMin && missing.length === 0 && capability.shape !== shape
      })
      .slice(0, limits.capabilitiesOfferedMax)

  return {
    verdictsOn: (one) => verdicts.get(idOf(one)) ?? [],
    async look(signal) {
      const isJudged = ({ n, intent, kind, run }: PastRun) =>
        n > after && intent !== null && (kind === 'code' || kind === 'dag') && !store.isPurged(run as RunId)
      const open = judging.runs().filter(isJudged).slice(-limits.capabilityJudgedRunsMax)
      for (const run of open) {
        if (signal?.aborted) break
        for (const { capability, args } of rivalsOf(run)) {
          const known = verdicts.get(idOf(capability)) ?? []
          known.push(await attempt(run.run, capability, args))
          verdicts.set(idOf(capability), known.slice(-limits.capabilityJudgedRunsMax))
        }
        after = run.n
      }
      return capabilities.all().flatMap((one) => demotion(one, verdicts.get(idOf(one)) ?? []))
    },
  }
}

function demotion(one: Capability, verdicts: readonly Attempt[]): EventBodies['capability.changed'][] {
  if (one.status !== 'verified' || one.isKept === true) return []
  const { repairs, regressions, judged, isHarmful } = interventionOf(verdicts)
  if (!isHarmful) return []
  const why = `tried against ${judged} past runs with intents like its own, it broke ${regressions} and repaired ${repairs}`
  return [{ capability: one.name, version: one.version, status: 'demoted', why, who: 'metier', from: 'engine' }]
}
