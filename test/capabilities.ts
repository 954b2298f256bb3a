/** A capability that stands in a home's chain as if it had been learned and verified there. */
import { type CapabilitySource, type EventBodies, type JsonObject, sha256, toText } from '#model'
import type { Store } from '#record'

type Taught = Partial<EventBodies['capability.learned']> & { isVerified?: boolean }

export async function teach(
  store: Pick<Store, 'appendHome'>,
  capability: string,
  source: string | CapabilitySource,
  { isVerified = true, ...more }: Taught = {},
): Promise<string> {
  const made: CapabilitySource = typeof source === 'string' ? { type: 'code', code: source } : source
  const digest = sha256(toText(made))
  const pinned = { capability, version: more.version ?? 1, digest, tools: more.tools ?? {} }
  await store.appendHome('capability.learned', {
    intent: capability.replaceAll('_', ' '),
    subject: null,
    source: made,
    shape: digest,
    parametersSchema: schemaOf({}),
    effect: null,
    servers: [],
    runs: [],
    ...more,
    ...pinned,
  })
  if (isVerified) await store.appendHome('capability.verified', { ...pinned, how: ['rehearsed'], runs: [] })
  return digest
}

/** Every parameter is required that has no default. */
export function schemaOf(properties: Record<string, JsonObject>): JsonObject {
  const required = Object.keys(properties).filter((name) => properties[name]!.default === undefined)
  return { type: 'object', properties, required, additionalProperties: false }
}
