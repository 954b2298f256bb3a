/** Reads whether the record is learned from, and how sure a capability must be to run by itself. */
import type { Config } from './config.ts'
import type { Fields } from './config-fields.ts'

export function readLearn(fields: Fields): Config['learn'] {
  const learn = { enabled: fields.boolean('enabled', true), shared: fields.boolean('shared', false) }
  fields.end()
  return learn
}

/** Null, or nothing: what was learned never runs by itself. */
export function readSpeculate(fields: Fields): Config['speculate'] {
  const { minConfidence = null } = fields.values
  fields.ignore('minConfidence')
  fields.end()
  const isShare = typeof minConfidence === 'number' && minConfidence >= 0 && minConfidence <= 1
  if (minConfidence !== null && !isShare)
    fields.report('minConfidence', 'something else', 'a number from 0 to 1, or null')
  return { minConfidence: isShare ? minConfidence : null }
}
