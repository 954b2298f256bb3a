/**
 * Loads the AI SDK's driver of a provider when it is used: an optional dependency, found beside
 * Métier and nowhere else, since a workspace may hold what a model wrote.
 */
import { AppError, type ProviderName } from '#model'
import about from '#package' with { type: 'json' }
import type { Reachable } from './model-name.ts'

type Options = { fetch: typeof globalThis.fetch; apiKey: string | null }

export async function loadProvider({ provider, name, url }: Reachable, { fetch, apiKey }: Options) {
  try {
    if (provider === 'anthropic') {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return createAnthropic({ baseURL: url, apiKey: apiKey ?? '', fetch }).languageModel(name)
    }
    if (provider === 'openai') {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return createOpenAI({ baseURL: url, apiKey: apiKey ?? '', fetch }).responses(name)
    }
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const key = apiKey === null ? {} : { apiKey }
    return createOpenAICompatible({ name: 'compatible', baseURL: url, ...key, fetch, includeUsage: true }).chatModel(
      name,
    )
  } catch (error) {
    throw missing(provider, error)
  }
}

export type LanguageModel = Awaited<ReturnType<typeof loadProvider>>

const packages = {
  anthropic: '@ai-sdk/anthropic',
  openai: '@ai-sdk/openai',
  compatible: '@ai-sdk/openai-compatible',
} as const

export function missing(provider: ProviderName, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'ERR_MODULE_NOT_FOUND') return error
  const wanted = `${packages[provider]}@${about.peerDependencies[packages[provider]]}`
  const message = `Cannot use models of "${provider}": the package ${wanted} is not installed. Add it beside Métier: npm install ${wanted} (with -g where Métier was installed with -g)`
  return new AppError('CONFIG_INVALID', message, { provider, package: wanted }, error)
}
