/**
 * What is to be learned, and what is to be taken back, from what is known: shapes of runs that went
 * well, capabilities so far, and how they did. Pure: the same record gives the same answer.
 */
import {
  type Effect,
  type EventBodies,
  effectKind,
  effectKinds,
  type Json,
  limits,
  sha256,
  splitToolId,
  toText,
} from '#model'
import { type Capability, idOf, supersededBy } from './capability-status.ts'
import {
  type CapabilityDraft,
  draftOf,
  type Lifted,
  nameFor,
  type RunsOfShape,
  type ShapedRun,
  valuesOfRun,
} from './make-capability.ts'
import { type InputOf, withToolTypes } from './tool-types.ts'

type Learned = EventBodies['capability.learned']
type Changed = EventBodies['capability.changed']
/** Each call of a run: which tool, as it was defined, with which effect. */
export type RunCall = { tool: string; definition: string | null; effect: Effect | null }

export type KnownShape = Omit<RunsOfShape, 'runs'> & {
  digest: string
  subject: string | null
  tools: readonly string[]
  runs: readonly (ShapedRun & { ms: number; ok: boolean })[]
}

/** What the record says of runs and tools. */
type RecordedCalls = { callsOf(run: string): RunCall[]; inputOf: InputOf }

/** `known` has every version, also of those that were forgotten. */
export function capabilitiesToLearn(
  shapes: readonly KnownShape[],
  known: readonly Capability[],
  record: RecordedCalls,
): Learned[] {
  const learned: Learned[] = []
  const all: KnownVersion[] = [...known]
  for (const shape of shapes) {
    const { runs, draft } = draftOnce(shape)
    const place = draft === null ? null : placeFor({ shape, runs, draft }, all)
    if (draft === null || place === null) continue
    const body = learnedBody({ shape, runs, draft }, place, record)
    learned.push(body)
    all.push({ ...body, name: body.capability, status: 'candidate', reason: null })
  }
  return learned
}

const drafts = new WeakMap<KnownShape, Pick<Drafted, 'runs'> & { draft: CapabilityDraft | null }>()

/** A shape stays the same object while nothing was added to it: its draft is not made again. */
function draftOnce(shape: KnownShape) {
  const found = drafts.get(shape)
  if (found !== undefined) return found
  const runs = shape.runs.filter(({ ok }) => ok).slice(-limits.capabilityRunsMax)
  const made = { runs, draft: runs.length === 0 ? null : draftOf({ ...shape, runs }) }
  drafts.set(shape, made)
  return made
}

type Drafted = { shape: KnownShape; runs: KnownShape['runs']; draft: CapabilityDraft }
type KnownVersion = Pick<
  Capability,
  'name' | 'version' | 'subject' | 'shape' | 'digest' | 'tools' | 'status' | 'lifted' | 'texts' | 'imported' | 'reason'
>
type Place = { name: string; version: number }

/** Its name and version; null where nothing better than what is known would be learned. */
function placeFor({ shape, runs, draft }: Drafted, known: readonly KnownVersion[]): Place | null {
  const own = known.filter(({ subject }) => subject === shape.subject)
  const same = own.filter((one) => one.shape === shape.digest && !isRefuted(one))
  if (same.some(({ status }) => status === 'forgotten')) return null
  // A person's word about a capability holds for what would take its place.
  const isOff = (name: string) => own.findLast((one) => one.name === name)?.status === 'disabled'
  const newest = same.at(-1)
  if (newest !== undefined) {
    return isWider(draft, newest) && !isOff(newest.name) ? next(newest.name, known) : null
  }
  const values = runs.flatMap(({ literals }) => Object.values(valuesOfRun(literals, draft)) as Json[])
  // The same words about other tools are another habit, not a better program for this one.
  const isOther = ({ subject, tools }: KnownVersion) =>
    subject !== shape.subject || areDisjoint(Object.keys(tools), shape.tools)
  const isTaken = (name: string) => known.some((one) => one.name === name && isOther(one))
  const intents = runs.map(({ intent }) => intent)
  const name = nameFor(intents, values, [], (one) => !isTaken(one))
  const other = own.filter((one) => one.name === name)
  if (other.length === 0) return { name, version: 1 }
  if (isOff(name)) return null
  // Another program for the same intent: worth it where it is used as a habit, and the one before
  // does not serve any more.
  const isServed = other.some(
    ({ status, reason }) => status === 'verified' || (status === 'candidate' && reason === null),
  )
  return isServed && runs.length < limits.capabilityBetterRunsMin ? null : next(name, known)
}

/** Of a file, and not what its runs here do: it stands in the way of none that is. */
const isRefuted = ({ imported, status, reason }: KnownVersion) =>
  imported === true && status === 'candidate' && reason !== null

function areDisjoint(left: readonly string[], right: readonly string[]): boolean {
  return left.length > 0 && right.length > 0 && !left.some((one) => right.includes(one))
}

/** More of it varies than was known: the earlier version could not do what was done since. */
function isWider(draft: CapabilityDraft, known: KnownVersion): boolean {
  const [now, before] = [widths(draft), widths(known)]
  return digestOf(draft) !== known.digest && [...now].some(([at, width]) => width > (before.get(at) ?? 0))
}

/** Of each literal, how much of it varies: in so many places of its text, or the whole of it. */
function widths({ lifted = {}, texts = [] }: Lifted): Map<number, number> {
  const slots = texts.map(({ at, pieces }): [number, number] => {
    const count = pieces.filter((piece) => typeof piece !== 'string').length
    return [at, count === pieces.length ? Number.POSITIVE_INFINITY : count]
  })
  return new Map([...slots, ...Object.values(lifted).flatMap((places) => places.map(whole))])
}

const whole = (at: number): [number, number] => [at, Number.POSITIVE_INFINITY]

function next(name: string, known: readonly KnownVersion[]): Place {
  const versions = known.filter((one) => one.name === name).map(({ version }) => version)
  return { name, version: Math.max(0, ...versions) + 1 }
}

const digestOf = ({ source }: CapabilityDraft) => sha256(toText(source))

function learnedBody(
  { shape: { subject, digest: shape }, runs, draft }: Drafted,
  { name, version }: Place,
  { callsOf, inputOf }: RecordedCalls,
): Learned {
  const { tools, effect, servers } = reachOf(runs.flatMap(({ run }) => callsOf(run)))
  const { source, lifted, texts } = draft
  const parametersSchema = withToolTypes(draft.parametersSchema, source, inputOf)
  return {
    capability: name,
    version,
    intent: runs[0]!.intent,
    subject,
    source,
    digest: digestOf(draft),
    shape,
    parametersSchema,
    tools,
    effect,
    servers,
    runs: runs.map(({ run }) => run),
    lifted,
    ...(texts.length === 0 ? {} : { texts }),
  }
}

/** What calls of a capability's runs say of it: its tools, their servers, the strongest effect. */
export function reachOf(calls: readonly RunCall[]): Pick<Learned, 'tools' | 'effect' | 'servers'> {
  const tools = Object.fromEntries(
    calls.flatMap(({ tool, definition }) => (definition === null ? [] : [[tool, definition]])),
  )
  const effects = calls.flatMap(({ effect }) => effect ?? [])
  const effect = effects.sort((left, right) => rankOf(right) - rankOf(left))[0] ?? null
  const servers = new Set(Object.keys(tools).flatMap((tool) => splitToolId(tool)?.server ?? []))
  servers.delete('cap')
  return { tools, effect, servers: [...servers] }
}

const rankOf = (effect: Effect) => effectKinds.indexOf(effectKind(effect))

type Uses = readonly { success: boolean }[]

/**
 * What happened since, as words about it: demoted where its rate of success is likely too low, or
 * where a newer version was verified.
 */
export function capabilitiesToDemote(
  known: readonly Capability[],
  usesOf: (name: string, version: number) => Uses,
): Changed[] {
  const said = { who: 'metier', from: 'engine', status: 'demoted' } as const
  return known
    .filter(({ status, isKept }) => status === 'verified' && isKept !== true)
    .flatMap((one): Changed[] => {
      const { name: capability, version } = one
      const newer = known.findLast(
        (other) => other.name === capability && other.version > version && other.status === 'verified',
      )
      if (newer !== undefined) return [{ ...said, capability, version, why: `${supersededBy}${idOf(newer)}` }]
      const { successes, failures, lower } = posteriorOf(usesOf(capability, version))
      const isBad = failures >= limits.capabilityFailuresMin && lower * 100 < limits.capabilityRatePercentMin
      return isBad
        ? [{ ...said, capability, version, why: `it failed ${failures} of ${successes + failures} times` }]
        : []
    })
}

/**
 * Beta posterior over its executions with a uniform prior: its mean, and the bound below which its
 * rate lies with a probability of about 5 %.
 */
export function posteriorOf(uses: Uses): { successes: number; failures: number; mean: number; lower: number } {
  const successes = uses.filter(({ success }) => success).length
  const failures = uses.length - successes
  const [a, b] = [successes + 1, failures + 1]
  const mean = a / (a + b)
  const deviation = Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)))
  return { successes, failures, mean, lower: Math.max(0, mean - 1.645 * deviation) }
}

type Verdict = 'repair' | 'regression' | 'tie' | 'unknown'

type Intervention = {
  repairs: number
  regressions: number
  ties: number
  /** Runs that never asked what it asks: they say nothing. */
  abstentions: number
  judged: number
  lower: number
  isHarmful: boolean
}

/**
 * What a capability would have changed, over runs it was tried against: repairs less regressions,
 * as a share of those that could be judged. Dirichlet posterior with a uniform prior over repair,
 * regression and tie; `lower` as above.
 */
export function interventionOf(verdicts: readonly Verdict[]): Intervention {
  const count = (verdict: Verdict) => verdicts.filter((one) => one === verdict).length
  const [repairs, regressions, ties] = [count('repair'), count('regression'), count('tie')]
  const judged = repairs + regressions + ties
  const mean = (repairs - regressions) / (judged + 3)
  const variance = ((repairs + regressions + 2) / (judged + 3) - mean ** 2) / (judged + 4)
  const lower = mean - 1.645 * Math.sqrt(variance)
  const isHarmful = regressions >= limits.capabilityFailuresMin && lower * 100 < -limits.capabilityNetLossPercentMax
  return { repairs, regressions, ties, abstentions: count('unknown'), judged, lower, isHarmful }
}
