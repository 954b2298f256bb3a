/** Reads how long a question waits for an answer, and who is told of it. */

import { limits } from '#model/limits'
import type { Config } from './config.ts'
import type { Fields } from './config-fields.ts'
import { type Expansion, expand } from './variables.ts'

export function readApprovals(expansion: Expansion, fields: Fields): Config['approvals'] {
  const { approvalMsDefault, approvalMsMin } = limits
  const expireMs = fields.integer('expireMs', approvalMsDefault, approvalMsMin)
  const isNone = fields.values.webhook === null || !fields.has('webhook')
  if (isNone) fields.ignore('webhook')
  const webhook = isNone ? null : expand(expansion, fields.string('webhook'))
  if (webhook !== null && (!/^https?:\/\//.test(webhook) || !URL.canParse(webhook)))
    fields.report('webhook', 'something else', 'an address that begins with http:// or https://')
  fields.end()
  return { expireMs, webhook }
}
