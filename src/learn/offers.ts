/**
 * The capabilities that are offered to an asker: the newest version of each, the intents that each
 * served and with which arguments, and how it did.
 */
import { argumentsOfRun, type Capability } from '#learn/capabilities'
import type { Knowledge, Shape } from '#learn/graph'
import { bindArguments, clipped, readIntent, type Served, type ToolHabit, unmatchedIn } from '#learn/intents'
import type { Json } from '#model'
import type { openWordings } from './wordings.ts'

const habitIntentsMax = 8
/** Below it, what is said beyond the known words may be another wish. */
const wordingShareMin = 0.5

/** `past`: with which arguments the runs that taught a capability would have called it. */
type OfferedHabit = ToolHabit & { past: readonly { intent: string; args: Json }[] }

/** Habits stand as their capabilities do; the same list as long as all are the same. */
export type Offers = { capabilities: readonly Capability[]; habits: readonly OfferedHabit[] }

/** Each habit is read once, and again where its capability or the runs of its shape changed. */
export function openHabits(): (known: Knowledge, capability: Capability) => OfferedHabit {
  const habits = new WeakMap<Capability, { shape: Shape | undefined; habit: OfferedHabit }>()
  return (known, capability) => {
    const shape = known.shape(capability.shape)
    const found = habits.get(capability)
    if (found !== undefined && found.shape === shape) return found.habit
    const habit = habitOf(capability, shape)
    habits.set(capability, { shape, habit })
    return habit
  }
}

function habitOf(capability: Capability, shape: Shape | undefined): OfferedHabit {
  const { name, intent, tools } = capability
  const runs = shape?.runs.filter(({ ok }) => ok) ?? []
  const intents = [...new Set([intent, ...runs.map((run) => run.intent)])].slice(-habitIntentsMax)
  return {
    id: name,
    tools: Object.keys(tools),
    intents: intents.map((text) => readIntent(clipped(text))),
    past: runs.map((run) => ({ intent: run.intent, args: argumentsOfRun(run, capability) })),
  }
}

/** Runs of its shape went well; one that never failed is not sure to go well: (s + 1) / (n + 2). */
export function usesOf(known: Knowledge, { name, version, runs }: Capability, taught = runs.length) {
  const uses = known.useCounts(name, version)
  const successes = taught + uses.successes
  const count = taught + uses.runs
  return { runs: count, successes, confidence: Math.round((1000 * (successes + 1)) / (count + 2)) / 1000 }
}

export function newestOf(known: Knowledge, isOffered: (capability: Capability) => boolean): Capability[] {
  const newest = new Map<string, Capability>()
  for (const capability of known.capabilities().filter(isOffered)) {
    const { version = 0 } = newest.get(capability.name) ?? {}
    if (capability.version > version) newest.set(capability.name, capability)
  }
  return [...newest.values()]
}

/**
 * The intents that a capability served: those of the runs that taught it, and those that it was
 * used for since, where they said hardly more than was known. One for which something else was done
 * as well says more than it did.
 */
export function servedBy(
  { name, subject, intent, parametersSchema }: Capability,
  past: OfferedHabit['past'],
  wordings: ReturnType<typeof openWordings>,
): Served[] {
  const taught: Served[] = past.filter((one) => wordings.isWhole(one.intent, subject))
  if (taught.length === 0) return [{ intent, args: null }]
  const used = wordings.of(name, subject).flatMap((text): Served[] => {
    const { args, missing } = bindArguments(text, parametersSchema, past)
    const isKnown = missing.length === 0 && unmatchedIn(text, args, taught).share > wordingShareMin
    return isKnown && wordings.isWhole(text, subject) ? [{ intent: text, args }] : []
  })
  return [...taught, ...used]
}
