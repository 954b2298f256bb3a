/**
 * Which models this machine can reach, asked by the list of models that every provider has: no
 * token is spent.
 */
import { type AppError, type Config, isObject, limits, type ProviderName, providerNames } from '#model'
import { exchangeOf } from './exchange.ts'
import { apiAddress, ownAddress, parseModelName } from './model-name.ts'

/** Where Ollama, llama.cpp and LM Studio listen. */
const localServers = ['http://127.0.0.1:11434/v1', 'http://127.0.0.1:8080/v1', 'http://127.0.0.1:1234/v1']

type Reach = {
  provider: ProviderName
  url: string
  /** Named by the configuration; else only looked for. */
  isConfigured: boolean
  models: string[]
  /** Null where it answered. */
  problem: string | null
}

type Target = Pick<Reach, 'provider' | 'url' | 'isConfigured'>

export async function reachable(config: Pick<Config, 'providers' | 'agent'>, local = localServers): Promise<Reach[]> {
  const configured = targetsOf(config)
  const guesses = local
    .filter((url) => !configured.some((target) => target.url === url))
    .map((url): Target => ({ provider: 'compatible', url, isConfigured: false }))
  const reaches = await Promise.all(
    [...configured, ...guesses].map((target) => ask(target, config.providers[target.provider].apiKey)),
  )
  return reaches.filter(({ isConfigured, problem }) => isConfigured || problem === null)
}

function targetsOf({ providers, agent }: Pick<Config, 'providers' | 'agent'>): Target[] {
  const targets: Target[] = []
  for (const provider of providerNames) {
    const { apiKey, baseUrl } = providers[provider]
    if (provider === 'compatible') {
      if (baseUrl !== null) targets.push({ provider, url: apiAddress(provider, baseUrl), isConfigured: true })
    } else if (apiKey !== null) targets.push({ provider, url: baseUrl ?? ownAddress[provider], isConfigured: true })
  }
  const named = agent.model === null ? null : parseModelName(agent.model, providers)
  if (named?.driver === 'provider' && !targets.some(({ url }) => url === named.url))
    targets.push({ provider: named.provider, url: named.url, isConfigured: true })
  return targets
}

async function ask(target: Target, apiKey: string | null): Promise<Reach> {
  const { provider, url, isConfigured } = target
  // A server that only happens to listen there is told nothing.
  const key = isConfigured ? apiKey : null
  const subject = {
    model: provider,
    keyHint: `Look at providers.${provider}.apiKey`,
    secrets: key === null ? [] : [key],
  }
  try {
    const signal = AbortSignal.timeout(limits.modelProbeMsMax)
    const response = await exchangeOf(subject, () => 0)(`${url}/models`, { headers: headersOf(provider, key), signal })
    const body: unknown = await response.json()
    const list = isObject(body) && Array.isArray(body.data) ? body.data : []
    return { ...target, models: list.map((item) => String(item?.id)), problem: null }
  } catch (error) {
    const isTimeout = error instanceof Error && /TimeoutError/.test(`${error.name} ${error.message}`)
    const problem = isTimeout ? `no answer within ${limits.modelProbeMsMax} ms` : (error as AppError).message
    return { ...target, models: [], problem }
  }
}

function headersOf(provider: ProviderName, key: string | null): Record<string, string> {
  if (key === null) return {}
  return provider === 'anthropic'
    ? { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    : { authorization: `Bearer ${key}` }
}
