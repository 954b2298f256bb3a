/** Reads what the agent does by default, and how language models are reached and priced. */

import { limits } from '#model/limits'
import { type Config, type ProviderConfig, type ProviderName, providerNames } from './config.ts'
import type { Fields } from './config-fields.ts'
import { collectSecrets, type Expansion, expand } from './variables.ts'

export function readAgent(fields: Fields): Config['agent'] {
  const model = textOrNull(fields, 'model')
  if (model !== null && !/^(?:anthropic|openai|compatible|scripted|cassette):./.test(model))
    fields.report('model', 'something else', 'a name like "anthropic:NAME", "openai:NAME" or "compatible:NAME@URL"')
  const agent = {
    model,
    protocol: fields.oneOf('protocol', ['rebound', 'tool_code'], 'rebound'),
    maxSteps: fields.integer('maxSteps', limits.agentStepsDefault, 1, limits.agentStepsMax),
    tokens: fields.integer('tokens', limits.agentTokensDefault, 1),
    wallMs: fields.integer('wallMs', limits.agentWallMsDefault, 1),
    tools: fields.boolean('tools', true),
  }
  fields.end()
  return agent
}

/** Where a provider's own tools look for its key. */
export const keyVariables = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY', compatible: null } as const

export function readProviders(expansion: Expansion, fields: Fields): Config['providers'] {
  const read = (name: ProviderName) => [name, readProvider(expansion, fields.section(name), name)]
  const providers = Object.fromEntries(providerNames.map(read))
  fields.only(providerNames)
  return providers
}

function readProvider(expansion: Expansion, fields: Fields, name: ProviderName): ProviderConfig {
  const written = textOrNull(fields, 'apiKey')
  const variable = keyVariables[name]
  const key = written === null ? variable && expansion.env[variable] : expand(expansion, written)
  // A variable that is not set leaves its name behind, which is no key.
  const apiKey = key && !/^\$\{[^}]*\}$/.test(key) ? key : null
  // Also where the file names another: neither may reach the record.
  for (const secret of [apiKey, variable && expansion.env[variable]])
    if (secret) collectSecrets(expansion, [['apiKey', secret]])
  const baseUrl = textOrNull(fields, 'baseUrl')
  const address = baseUrl === null ? null : expand(expansion, baseUrl).replace(/\/+$/, '')
  if (address !== null && (!/^https?:\/\//.test(address) || !URL.canParse(address)))
    fields.report('baseUrl', 'something else', 'an address that begins with http:// or https://')
  const prices = readPrices(fields)
  const contextTokens = fields.integer('contextTokens', limits[`${name}ContextTokens`], 1000)
  fields.only(['apiKey', 'baseUrl', 'prices', 'contextTokens'])
  return { apiKey, baseUrl: address, prices, contextTokens }
}

function readPrices(fields: Fields): ProviderConfig['prices'] {
  if (!fields.has('prices') || fields.values.prices === null) return null
  const section = fields.section('prices')
  section.only(['input', 'output'])
  return { input: section.amount('input'), output: section.amount('output') }
}

function textOrNull(fields: Fields, name: string): string | null {
  if (fields.has(name) && fields.values[name] !== null) return fields.string(name)
  fields.ignore(name)
  return null
}
