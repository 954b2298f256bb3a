/** AWS Signature Version 4: the headers by which a server knows who sent a request to S3. */
import { createHmac } from 'node:crypto'
import { sha256 } from '#model'

export type Keys = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

type Unsigned = {
  method: string
  /** As it goes over the wire, with the query in the order of its names. */
  url: URL
  headers: Record<string, string>
  /** SHA-256 of the body in hexadecimal: the server refuses another one. */
  digest: string
}

const algorithm = 'AWS4-HMAC-SHA256'
export const emptyDigest = sha256('')

/** The headers of the request with those that sign all of them, its address and its body. */
export function signed(request: Unsigned, keys: Keys, region: string, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const headers: Record<string, string> = {
    ...request.headers,
    host: request.url.host,
    'x-amz-date': time,
    'x-amz-content-sha256': request.digest,
    ...(keys.sessionToken !== undefined && { 'x-amz-security-token': keys.sessionToken }),
  }
  const names = Object.keys(headers).sort()
  const scope = `${day}/${region}/s3/aws4_request`
  const text = [algorithm, time, scope, sha256(canonicalRequest(request, headers, names))].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${keys.secretAccessKey}`)
  const signature = hmac(key, text).toString('hex')
  const credential = `${keys.accessKeyId}/${scope}`
  const authorization = `${algorithm} Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`
  return { ...headers, authorization }
}

function canonicalRequest(
  { method, url, digest }: Unsigned,
  headers: Record<string, string>,
  names: readonly string[],
): string {
  const lines = names.map((name) => `${name}:${headers[name]!.trim().replace(/ +/g, ' ')}`)
  return [method, url.pathname, url.search.slice(1), ...lines, '', names.join(';'), digest].join('\n')
}

/** Everything but letters, digits and `-._~`, as the signature wants it in paths and queries. */
export function uriEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
