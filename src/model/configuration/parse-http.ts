/** Reads where the gateway listens, who may use it, and how often. */

import { limits } from '#model/limits'
import type { Config } from './config.ts'
import type { Fields } from './config-fields.ts'

export function readHttp(fields: Fields): Config['http'] {
  const host = fields.string('host', '127.0.0.1')
  const port = fields.integer('port', 7420, 0, 65_535)
  const auth = fields.oneOf('auth', ['none', 'token', 'oauth'], 'none')
  const address = (name: string) => (fields.has(name) ? readAddress(fields, name) : null)
  const [url, issuer] = [address('url')?.replace(/\/+$/, '') ?? null, address('issuer')]
  const audience = fields.has('audience') ? fields.string('audience') : null
  const scope = fields.string('scope', '')
  const rate = readRate(fields.section('rate'))
  if (auth === 'oauth' && issuer === null) fields.report('auth', '"oauth" alone', '"issuer" beside it')
  fields.end()
  return { host, port, auth, url, issuer, audience, scope, rate }
}

function readAddress(fields: Fields, name: string): string {
  const text = fields.string(name)
  if (!/^https?:\/\//.test(text) || !URL.canParse(text))
    fields.report(name, 'something else', 'an address that begins with http:// or https://')
  return text
}

function readRate(fields: Fields): Config['http']['rate'] {
  const requests = fields.integer('requests', limits.httpRequestsPerMinuteDefault, 1)
  const executes = fields.integer('executes', limits.httpExecutesPerMinuteDefault, 1)
  fields.end()
  return { requests, executes }
}
