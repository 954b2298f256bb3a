/** Opens a model by its name: a provider's, a script of answers, or a cassette. */
import { resolve } from 'node:path'
import type { Config } from '#model'
import { openCassette } from './cassette.ts'
import { problemOfAnswer } from './check-answer.ts'
import { extractJson } from './extract-json.ts'
import type { Model } from './model.ts'
import { parseModelName } from './model-name.ts'
import { openProviderModel } from './provider-model.ts'
import { openScripted } from './scripted.ts'

/** Where relative files are looked for, and the clock by which `Retry-After` is read. */
type ModelSurroundings = { directory: string; now?: () => number }

export async function openModel(
  name: string,
  { providers, knownSecrets }: Pick<Config, 'providers' | 'knownSecrets'>,
  surroundings: ModelSurroundings,
): Promise<Model> {
  const { directory, now = Date.now } = surroundings
  const parsed = parseModelName(name, providers)
  if (parsed.driver === 'provider')
    return withJson(await openProviderModel(name, parsed, providers[parsed.provider], now))
  const file = resolve(directory, parsed.file)
  if (parsed.driver === 'scripted') return withJson(openScripted(name, file))
  const recorded =
    parsed.recorded === null ? null : await openModel(parsed.recorded, { providers, knownSecrets }, surroundings)
  return withJson(openCassette(name, file, recorded, knownSecrets))
}

/** Where JSON is asked for, every driver's text is looked through by the same rules. */
function withJson(model: Model): Model {
  return {
    ...model,
    async complete(request) {
      const answer = await model.complete(request)
      const { schema } = request
      if (schema === undefined || answer.text === '') return answer
      const found = extractJson(answer.text, (value) => problemOfAnswer(schema, value) === null)
      return found.ok ? { ...answer, json: found.value } : answer
    },
  }
}
