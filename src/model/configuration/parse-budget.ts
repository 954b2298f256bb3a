/** Reads what a run may use up: some bounds always hold, others where they are named. */
import { limits } from '#model/limits'
import type { Config } from './config.ts'
import type { Fields } from './config-fields.ts'

export function readBudget(fields: Fields): Config['budget'] {
  const calls = fields.integer('calls', limits.budgetCallsDefault, 1)
  const wallMs = fields.integer('wallMs', limits.budgetWallMsDefault, 1)
  const bytes = fields.integer('bytes', limits.budgetBytesDefault, 1)
  const bound = (name: 'tokens' | 'cost' | 'deadlineMs', read: () => number) => {
    if (fields.has(name) && fields.values[name] !== null) return { [name]: read() }
    fields.ignore(name)
    return {}
  }
  const tokens = bound('tokens', () => fields.integer('tokens', 0, 0))
  const cost = bound('cost', () => fields.amount('cost'))
  const deadline = bound('deadlineMs', () => fields.integer('deadlineMs', 0, 1))
  fields.end()
  return { calls, wallMs, bytes, ...tokens, ...cost, ...deadline }
}
