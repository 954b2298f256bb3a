/** Reads where artifacts are: in the folder of the home, or in a bucket of an S3 server. */

import { limits } from '#model/limits'
import { awsChain } from './aws-chain.ts'
import type { Config, S3Config, S3Credentials } from './config.ts'
import type { Fields } from './config-fields.ts'
import { collectSecrets, type Expansion, expand } from './variables.ts'

const names = [
  'url',
  'endpoint',
  'region',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
  'forcePathStyle',
  'maxBytes',
]

export function readArtifacts(expansion: Expansion, root: Fields): Config['artifacts'] {
  const isFolder = !root.has('artifacts') || typeof root.values.artifacts === 'string'
  return isFolder ? root.oneOf('artifacts', ['dir'] as const, 'dir') : readS3(expansion, root.section('artifacts'))
}

/**
 * What the file leaves out comes from the variables that AWS's own tools read. A field that is
 * written wrong could send artifacts elsewhere: it is refused.
 */
function readS3(expansion: Expansion, fields: Fields): S3Config {
  const { env } = expansion
  const unset = expansion.unset.size
  const text = (name: string) => (fields.has(name) ? expand(expansion, fields.string(name)) : undefined)
  const [, bucket = '', prefix = ''] = urlPattern.exec(text('url') ?? '') ?? []
  const region = text('region') ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1'
  const named = text('endpoint') ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL
  const endpoint = (named ?? `https://s3.${region}.amazonaws.com`).replace(/\/+$/, '')
  const isComplete = expansion.unset.size === unset
  if (isComplete && bucket === '')
    fields.report('url', fields.has('url') ? 'something else' : 'nothing', 's3://bucket or s3://bucket/prefix')
  if (isComplete && !endpointPattern.test(endpoint))
    fields.report('endpoint', 'something else', 'http://host:port or https://host')
  const credentials = readCredentials(expansion, fields, { region, text })
  // Servers of one's own seldom have a host name for each bucket.
  const forcePathStyle = fields.boolean('forcePathStyle', named !== undefined)
  const maxBytes = fields.integer('maxBytes', limits.artifactBytesMax, 1, limits.artifactBytesCeiling)
  fields.only(names)
  return { endpoint, region, bucket, prefix, forcePathStyle, credentials, maxBytes }
}

/** A bucket as S3 allows it to be named, and a prefix of names that need no escape. */
const urlPattern = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/((?:[\w-][\w.-]*\/)*[\w-][\w.-]*))?\/?$/
const endpointPattern = /^https?:\/\/(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/

/** Of the file, else of the environment, else where AWS's own tools look when a request is made. */
function readCredentials(
  expansion: Expansion,
  fields: Fields,
  { region, text }: { region: string; text(name: string): string | undefined },
): S3Credentials {
  const { env } = expansion
  const keys = { accessKeyId: text('accessKeyId'), secretAccessKey: text('secretAccessKey') }
  const token = text('sessionToken')
  if ((keys.accessKeyId === undefined) !== (keys.secretAccessKey === undefined))
    fields.report('accessKeyId', 'one key alone', 'accessKeyId and secretAccessKey, or neither')
  const { accessKeyId = env.AWS_ACCESS_KEY_ID, secretAccessKey = env.AWS_SECRET_ACCESS_KEY } = keys
  if (!accessKeyId || !secretAccessKey) return awsChain(env, region)
  const sessionToken = keys.accessKeyId === undefined ? env.AWS_SESSION_TOKEN : token
  collectSecrets(expansion, Object.entries({ secretAccessKey, sessionToken: sessionToken ?? '' }))
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}
