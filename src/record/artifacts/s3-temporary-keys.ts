/** Keys that are handed out for a while, to what runs in a cloud. */
import { readFile } from 'node:fs/promises'
import { type AwsChain, limits } from '#model'
import { S3Fault } from './s3-error.ts'
import type { Keys } from './s3-signature.ts'
import { textOf } from './s3-xml.ts'

/** Keys that expire are kept until then; those of a file are read again for each request. */
export type FoundKeys = { keys: Keys; expires?: number }

/** A token of the cluster, exchanged for keys by AWS's token service. */
export async function ofWebIdentity({ webIdentity }: AwsChain): Promise<FoundKeys | null> {
  if (webIdentity === null) return null
  const { endpoint, role, session, tokenFile } = webIdentity
  const token = (await textIn(tokenFile)).trim()
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: session,
    WebIdentityToken: token,
  })
  const xml = await ask(endpoint, { method: 'POST', body })
  const names = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration']
  return parseKeys(JSON.stringify(Object.fromEntries(names.map((name) => [name, textOf(xml, name)]))), 'SessionToken')
}

/** Of the agent beside a container. */
export async function ofContainer({ container }: AwsChain): Promise<FoundKeys | null> {
  if (container === null) return null
  const { url, token, tokenFile } = container
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !agentHosts.test(hostname)) throw refused(`${url} is neither https nor of this machine`)
  const authorization = tokenFile === null ? token : (await textIn(tokenFile)).trim()
  const headers = authorization === null ? {} : { authorization }
  return parseKeys(await ask(url, { headers }), 'Token')
}

/** As in AWS's own tools: plain HTTP only to an address of this machine. */
const agentHosts = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|169\.254\.170\.(?:2|23)|\[fd00:ec2::23\])$/

/** Of a virtual machine's role. On any other machine the address is silent: no failure. */
export async function ofMetadata({ metadata }: AwsChain): Promise<FoundKeys | string> {
  if (metadata === null) return 'the metadata service of EC2 is not to be asked'
  const roles = `${metadata}/latest/meta-data/iam/security-credentials/`
  const asked = { method: 'PUT', headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' } }
  try {
    const token = await ask(`${metadata}/latest/api/token`, asked, limits.s3MetadataMsMax)
    const headers = { 'x-aws-ec2-metadata-token': token }
    const role = (await ask(roles, { headers })).split('\n')[0]!.trim()
    return parseKeys(await ask(roles + encodeURIComponent(role), { headers }), 'Token')
  } catch (error) {
    return `no role of this machine is known (${(error as Error).message})`
  }
}

/** The object in which all of these places, and programs, hand out keys. */
export function parseKeys(json: string, tokenName: 'Token' | 'SessionToken'): FoundKeys {
  const found = objectIn(json)
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Expiration: until, [tokenName]: token } = found
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') throw refused('the answer has no keys')
  const expires = Date.parse(String(until))
  return {
    keys: { accessKeyId, secretAccessKey, ...(typeof token === 'string' && { sessionToken: token }) },
    ...(!Number.isNaN(expires) && { expires }),
  }
}

/** What is no JSON is not shown, as the parser's own error would: it may be a secret. */
function objectIn(json: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(json)) as Record<string, unknown>
  } catch {
    throw refused('the answer is no JSON')
  }
}

async function ask(url: string, request: RequestInit, msMax: number = limits.s3KeysMsMax): Promise<string> {
  const { host } = new URL(url)
  const lost = ({ message, cause }: Error) => {
    const reason = cause instanceof Error ? cause.message : message
    throw new S3Fault('ConnectionLost', 0, `${host}, which hands out its keys, cannot be reached (${reason})`)
  }
  const signal = AbortSignal.timeout(msMax)
  const answer = await fetch(url, { ...request, redirect: 'error', signal }).catch(lost)
  const text = await answer.text().catch(lost)
  if (answer.ok) return text
  if (answer.status >= 500) lost(new Error(`it answers ${answer.status}`))
  throw refused(`${host} answers ${answer.status}`)
}

async function textIn(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: Error) => {
    throw refused(error.message)
  })
}

function refused(reason: string): S3Fault {
  return new S3Fault('AccessDenied', 403, `there are no keys for it: ${reason}`)
}
