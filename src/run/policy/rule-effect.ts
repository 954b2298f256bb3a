/**
 * What a line that an answer writes will do, under the rules of the file as they are now: said
 * where it is answered.
 */
import { type Effect, escapeInvisible, type PermissionSet, type PolicyRule } from '#model'
import { isAbout, isByPolicy } from './decide.ts'

export type LineScope = 'run' | 'always'

/** `then` is what becomes of the next call of the same kind. */
export type LineEffect = { then: 'allow' | 'ask' | 'deny'; says: string }

/** `covers` is what the line is about, where that is not the tool alone. */
type JudgedCall = { tool: string; effect: Effect; why: string; covers?: string | undefined }

/**
 * A line stands after the file's rules. So a rule about the tool without patterns leaves it without
 * effect, one with patterns takes precedence where they match, and what asks whatever the policy
 * says asks all the same.
 */
export function lineEffect(
  { tool, effect, why, covers = tool }: JudgedCall,
  scope: LineScope,
  permissions: PermissionSet,
  file: readonly PolicyRule[],
): LineEffect {
  const name = escapeInvisible(covers)
  if (!isByPolicy(why)) {
    return {
      then: 'ask',
      says: `without effect on calls like this: ${escapeInvisible(why)} asks whatever the policy says`,
    }
  }
  const about = file.flatMap((rule, index) => (isAbout(rule, { tool, effect, danger: null }) ? [{ rule, index }] : []))
  const decisive = about.findIndex(({ rule }) => Object.keys(rule.args ?? {}).length === 0)
  if (decisive >= 0) return overruled(about[decisive]!)
  const until = scope === 'run' ? 'for the rest of this run' : 'in every run'
  const except = about.filter(({ rule }) => rule.then !== 'allow').map(({ index }) => index + 1)
  const where = except.length === 0 ? '' : `, except where ${rulesNumbered(except)} of the file applies`
  const strict = permissions === 'minimal' ? '' : `, until the file's permissions are stricter than "${permissions}"`
  return { then: 'allow', says: `${name} passes without a question ${until}${where}${strict}` }
}

const doing = { allow: 'allows', ask: 'asks about', deny: 'denies' }

function overruled({ rule, index }: { rule: PolicyRule; index: number }): LineEffect {
  const before = `rule ${index + 1} of the file ${doing[rule.then]} every call of it and stands before this line`
  return { then: rule.then, says: `without effect: ${before}` }
}

function rulesNumbered(numbers: number[]): string {
  return `${numbers.length === 1 ? 'rule' : 'one of the rules'} ${numbers.join(', ')}`
}
