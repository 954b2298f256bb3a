/** The keys for S3: those of the configuration, or the first that AWS's own tools would find. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { AppError, type AwsChain, limits, type S3Credentials } from '#model'
import type { Keys } from './s3-signature.ts'
import { type FoundKeys, ofContainer, ofMetadata, ofWebIdentity, parseKeys } from './s3-temporary-keys.ts'

/** Keys, or why there are none in this place; null where it is not in use. */
type Place = (chain: AwsChain) => Promise<FoundKeys | string | null>

/** In the order of AWS's own tools. */
const places: readonly Place[] = [ofProfile, ofWebIdentity, ofContainer, ofMetadata]

/** Answers with keys that hold for a request that is made now. */
export function openKeys(credentials: S3Credentials, now: () => number = Date.now): () => Promise<Keys> {
  if (!('files' in credentials)) return async () => credentials
  let kept: FoundKeys | null = null
  let asking: Promise<FoundKeys> | null = null
  const holds = (marginMs: number) => kept?.expires !== undefined && now() < kept.expires - marginMs
  return async () => {
    if (kept !== null && holds(limits.s3KeysRenewMs)) return kept.keys
    asking ??= findKeys(credentials).finally(() => {
      asking = null
    })
    try {
      kept = await asking
    } catch (error) {
      if (!holds(0)) throw error
    }
    return kept!.keys
  }
}

async function findKeys(chain: AwsChain): Promise<FoundKeys> {
  const reasons: string[] = []
  for (const place of places) {
    const found = await place(chain)
    if (typeof found === 'string') reasons.push(found)
    else if (found !== null) return found
  }
  const next = 'Set accessKeyId and secretAccessKey of "artifacts", or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
  const message = `Cannot use S3: there are no keys for it: ${reasons.join('; ')}. ${next}`
  throw new AppError('S3_ACCESS_DENIED', message)
}

/** The profile in the file of keys, else in that of the configuration; or what its program says. */
async function ofProfile({ files, profile }: AwsChain): Promise<FoundKeys | string> {
  const inConfig = profile === 'default' ? profile : `profile ${profile}`
  const [own, more] = await Promise.all([sectionOf(files.credentials, profile), sectionOf(files.config, inConfig)])
  for (const section of [own, more]) {
    const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = section
    const { aws_session_token: sessionToken } = section
    if (accessKeyId && secretAccessKey)
      return { keys: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }
  }
  const program = own.credential_process ?? more.credential_process
  if (program) return ofProgram(program, profile)
  return `${files.credentials} and ${files.config} have none for the profile "${profile}"`
}

/** Not what it prints, where that are no keys: it may be a secret. */
async function ofProgram(program: string, profile: string): Promise<FoundKeys | string> {
  try {
    const options = { timeout: limits.s3KeysMsMax, maxBuffer: limits.s3AnswerBytesMax }
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', program], options)
    return parseKeys(stdout, 'SessionToken')
  } catch (error) {
    const { code = 'no keys' } = error as { code?: unknown }
    return `the credential_process of the profile "${profile}" fails (${String(code)})`
  }
}

/** The lines `name = value` under `[section]`; of a file that cannot be read, none. */
async function sectionOf(file: string, section: string): Promise<Record<string, string>> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const found: Record<string, string> = {}
  let name = ''
  for (const line of text.split(/\r?\n/)) {
    const [, header] = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line) ?? []
    const [, key, value] = /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (header !== undefined) name = header.replace(/\s+/g, ' ')
    else if (key !== undefined && name === section) found[key] = value!
  }
  return found
}
