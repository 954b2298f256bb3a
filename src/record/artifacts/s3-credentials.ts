/** The keys for S3: those of the configuration, or of the file that AWS's own tools read. */
import { readFile } from 'node:fs/promises'
import { AppError, type S3Credentials } from '#model'
import type { Keys } from './s3-signature.ts'

/** A file is read for each request, so that keys that were exchanged hold at once. */
export async function keysOf(credentials: S3Credentials): Promise<Keys> {
  if (!('file' in credentials)) return credentials
  const { file, profile } = credentials
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw noKeys(`${file} cannot be read (${error.message})`)
  })
  const section = sectionOf(text, profile)
  const [accessKeyId, secretAccessKey] = [section.aws_access_key_id, section.aws_secret_access_key]
  if (!accessKeyId || !secretAccessKey) throw noKeys(`${file} has none for the profile "${profile}"`)
  const sessionToken = section.aws_session_token
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}

/** The lines `name = value` under `[profile]`. */
function sectionOf(text: string, profile: string): Record<string, string> {
  const section: Record<string, string> = {}
  let name = ''
  for (const line of text.split(/\r?\n/)) {
    const [, header] = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line) ?? []
    const [, key, value] = /^\s*([a-z_]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (header !== undefined) name = header
    else if (key !== undefined && name === profile) section[key] = value!
  }
  return section
}

function noKeys(reason: string): AppError {
  const next = 'Set accessKeyId and secretAccessKey of "artifacts", or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
  return new AppError('S3_ACCESS_DENIED', `Cannot use S3: there are no keys for it: ${reason}. ${next}`)
}
