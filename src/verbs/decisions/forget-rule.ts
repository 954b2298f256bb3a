/**
 * A human takes back a line of policy that stands: nothing passes by it any more, in any process of
 * the home.
 */
import { AppError } from '#model'
import type { Store } from '#record'
import { standingLines } from '#run'
import type { Caller } from '#verbs/execute'
import type { ForgetAnswer } from '#verbs/views'

/** Lines that say the same go together: with one of them left, nothing would change. */
export async function forgetRule(store: Store, id: string, { actor }: Caller): Promise<ForgetAnswer> {
  const lines = standingLines(store)
  const line = lines.find((each) => String(each.id) === id)
  if (line === undefined) throw unknownLine(id)
  const { rule } = line
  const forgets = lines.filter((each) => JSON.stringify(each.rule) === JSON.stringify(rule)).map((each) => each.id)
  const { name: who, kind: from } = actor
  await store.appendHome('policy.changed', { rule, who, from, forgets })
  return { rule, forgets }
}

function unknownLine(value: string): AppError {
  const details = 'none of that id stands; "metier policy" lists those that do, and those of the file are changed there'
  const message = `Cannot forget the line "${value}": ${details}`
  return new AppError('INVALID_INPUT_PARAM', message, { param: 'id', details, value })
}
