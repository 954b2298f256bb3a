/** Reads the name of a model: its driver, and what the driver needs. */
import { AppError, type ProviderConfig, type ProviderName } from '#model'

export type Reachable = { driver: 'provider'; provider: ProviderName; name: string; url: string }
type ModelName =
  | Reachable
  | { driver: 'scripted'; file: string }
  | { driver: 'cassette'; file: string; recorded: string | null }

type Providers = Record<ProviderName, ProviderConfig>

export const ownAddress = { anthropic: 'https://api.anthropic.com/v1', openai: 'https://api.openai.com/v1' } as const

export function parseModelName(text: string, providers: Providers): ModelName {
  const [, driver, rest] = /^(anthropic|openai|compatible|scripted|cassette):(.+)$/s.exec(text) ?? []
  if (driver === undefined || rest === undefined) throw invalid(text, 'names no driver')
  if (driver === 'scripted') return { driver, file: rest }
  if (driver === 'cassette') {
    const [, file, recorded] = /^(.+?)=((?:anthropic|openai|compatible|scripted):.+)$/s.exec(rest) ?? []
    return { driver, file: file ?? rest, recorded: recorded ?? null }
  }
  if (driver !== 'compatible') {
    const provider = driver as 'anthropic' | 'openai'
    return { driver: 'provider', provider, name: rest, url: providers[provider].baseUrl ?? ownAddress[provider] }
  }
  const [, name, address] = /^(.+)@(https?:\/\/.+)$/s.exec(rest) ?? []
  const url = address ?? providers.compatible.baseUrl
  if (url === null) throw invalid(text, 'has no address')
  return { driver: 'provider', provider: driver, name: name ?? rest, url: apiAddress(text, url) }
}

/** Servers of this kind answer below `/v1`; who writes only a host means that. */
export function apiAddress(text: string, url: string): string {
  if (!URL.canParse(url)) throw invalid(text, 'has an address that is none')
  const { username, password, pathname } = new URL(url)
  if (username || password)
    throw invalid(text, 'has a password in its address: write it as providers.compatible.apiKey')
  const trimmed = url.replace(/\/+$/, '')
  return pathname === '/' ? `${trimmed}/v1` : trimmed
}

function invalid(text: string, problem: string): AppError {
  const details = `${problem}; expected anthropic:NAME, openai:NAME, compatible:NAME@URL, scripted:FILE or cassette:FILE`
  // An address may hold a password, so the name is not repeated.
  const shown = text.includes('@') ? text.slice(0, text.indexOf('@')) : text
  return new AppError('INVALID_INPUT_PARAM', `Cannot use the model "${shown.slice(0, 100)}": it ${details}`, {
    param: 'model',
    details,
  })
}
