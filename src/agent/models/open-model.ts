/** Opens a model by its name: a provider's, a script of answers, or a cassette. */
import { resolve } from 'node:path'
import type { Config, JsonObject } from '#model'
import { openCassette } from './cassette.ts'
import { problemOfAnswer } from './check-answer.ts'
import { extractJson } from './extract-json.ts'
import type { Model, ModelAnswer, ModelRequest, ModelUsage } from './model.ts'
import { parseModelName } from './model-name.ts'
import { openProviderModel } from './provider-model.ts'
import { openScripted } from './scripted.ts'

/** Where relative files are looked for, and the clock by which `Retry-After` is read. */
type ModelOptions = { directory: string; now?: () => number }

type Keys = Pick<Config, 'providers' | 'knownSecrets'>

export async function openModel(name: string, keys: Keys, surroundings: ModelOptions): Promise<Model> {
  return withJson(await openDriver(name, keys, surroundings))
}

async function openDriver(name: string, keys: Keys, surroundings: ModelOptions): Promise<Model> {
  const { directory, now = Date.now } = surroundings
  const { providers, knownSecrets } = keys
  const parsed = parseModelName(name, providers)
  if (parsed.driver === 'provider') return openProviderModel(name, parsed, providers[parsed.provider], now)
  const file = resolve(directory, parsed.file)
  if (parsed.driver === 'scripted') return openScripted(name, file)
  const recorded = parsed.recorded === null ? null : await openDriver(parsed.recorded, keys, surroundings)
  return openCassette(name, file, recorded, knownSecrets)
}

/**
 * Where JSON is asked for, every driver's text is looked through by the same rules. One that does
 * not fit is repaired once: the model is shown what is wrong with it. A session asks without a
 * schema, since each of its requests is a call of its own: it repairs by its next step.
 */
function withJson(model: Model): Model {
  return {
    ...model,
    async complete(request) {
      const { schema, maxTokens } = request
      const first = await model.complete(request)
      if (schema === undefined || first.stop !== 'end') return first
      const found = jsonIn(first, schema)
      if (found.ok) return { ...first, json: found.value }
      const left = maxTokens - (first.usage.outputTokens ?? 0)
      if (left <= 0) return first
      const second = await model.complete({ ...request, ...repairOf(request, first, found.reason), maxTokens: left })
      const repaired = second.stop === 'end' ? jsonIn(second, schema) : null
      const both = { ...second, usage: sumOf(first.usage, second.usage), raw: [first.raw, second.raw] }
      return repaired?.ok ? { ...both, json: repaired.value } : both
    },
  }
}

function jsonIn({ text }: ModelAnswer, schema: JsonObject): ReturnType<typeof extractJson> {
  const found = extractJson(text, (value) => problemOfAnswer(schema, value) === null)
  const problem = found.ok ? problemOfAnswer(schema, found.value) : null
  return problem === null ? found : { ok: false, reason: problem }
}

function repairOf({ messages }: ModelRequest, { text }: ModelAnswer, reason: string): Pick<ModelRequest, 'messages'> {
  const told = `System: Your answer was not used: ${reason}. Send one JSON object that fits, and nothing else.`
  return { messages: [...messages, { role: 'assistant', text }, { role: 'user', text: told }] }
}

/** Unknown where one of the two is. */
function sumOf(a: ModelUsage, b: ModelUsage): ModelUsage {
  const sum = (one: number | null, other: number | null) => (one === null || other === null ? null : one + other)
  return {
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    costUsd: sum(a.costUsd, b.costUsd),
  }
}
