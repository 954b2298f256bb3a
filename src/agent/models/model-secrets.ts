/**
 * The keys with which models are reached, of this machine: from the configuration, the provider's
 * variable, and where AWS keeps its own. None of them may reach the record.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, keyVariables, limits } from '#model'

type Environment = Record<string, string | undefined>

const awsVariables = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_BEARER_TOKEN_BEDROCK']

export function modelSecrets({ providers }: Pick<Config, 'providers'>, env: Environment): string[] {
  const configured = Object.values(providers).map(({ apiKey }) => apiKey)
  const variables = [...Object.values(keyVariables), ...awsVariables].map((name) => name && env[name])
  const found = [...configured, ...variables, ...awsFile(env)]
  return [
    ...new Set(found.filter((value) => typeof value === 'string' && value.length >= limits.secretBytesMin)),
  ] as string[]
}

/** Of every profile: which one is used may change while a run waits. */
function awsFile({ AWS_SHARED_CREDENTIALS_FILE: file, HOME: home }: Environment): string[] {
  const path = file ?? (home === undefined ? undefined : join(home, '.aws', 'credentials'))
  if (path === undefined) return []
  try {
    const text = readFileSync(path, 'utf8')
    return [...text.matchAll(/^\s*aws_(?:access_key_id|secret_access_key|session_token)\s*=\s*(\S+)/gim)].map(
      (match) => match[1]!,
    )
  } catch {
    return []
  }
}
