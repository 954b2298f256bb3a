/**
 * What capabilities were used for, in whose words: an agent that sends a suggestion back teaches
 * the words of its intent. An intent for which something else was done too says more than the
 * capability does, and teaches nothing of it.
 */
import type { Knowledge, PastRun } from '#learn/graph'
import { isCapability, LruCache, limits, parseCapabilityId } from '#model'

const keptMax = 8

type Run = Pick<PastRun, 'intent' | 'subject' | 'status' | 'tools'>

type Wordings = {
  add(run: Run): void
  /** The newest intents for which it was all that was called, and went well. */
  of(capability: string, subject: string | null): readonly string[]
  /** Whether one set of tools was all that was ever used for these words. */
  isWhole(intent: string, subject: string | null): boolean
}

const several = Symbol('several')

export function openWordings(): Wordings {
  const used = new Map<string, string[]>()
  const sets = new LruCache<string, string | typeof several>(limits.learnWordingsMax)
  return {
    add({ intent, subject, status, tools }) {
      if (intent === null || status !== 'done' || tools.length === 0) return
      const key = keyOf(intent, subject)
      const set = [...new Set(tools)].sort().join('\0')
      sets.set(key, (sets.get(key) ?? set) === set ? set : several)
      const name = tools.length === 1 && parseCapabilityId(tools[0]!)?.name
      if (!name) return
      const own = keyOf(name, subject)
      const others = (used.get(own) ?? []).filter((one) => one !== intent)
      used.set(own, [...others, intent].slice(-keptMax))
    },
    of: (capability, subject) => used.get(keyOf(capability, subject)) ?? [],
    isWhole: (intent, subject) => sets.get(keyOf(intent, subject)) !== several,
  }
}

const keyOf = (text: string, subject: string | null) => `${subject ?? ''}\0${text}`

/** A run's tools, with those of a capability in its place: what was done is what it did. */
export function toolsDone(tools: readonly string[], known: Pick<Knowledge, 'capability'>, depth = 0): string[] {
  return tools.flatMap((id) => {
    const parsed = isCapability(id) ? parseCapabilityId(id) : null
    const capability = parsed === null ? undefined : known.capability(parsed.name, parsed.version ?? undefined)
    if (capability === undefined || depth >= limits.capabilityDepthMax) return [id]
    return toolsDone(Object.keys(capability.tools), known, depth + 1)
  })
}
