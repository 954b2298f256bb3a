/**
 * Whether a call may be made: rules in order, the first match decides, else the permission set, in
 * which what is dangerous asks.
 */
import {
  AppError,
  type Effect,
  type EffectKind,
  effectClasses,
  effectKind,
  effectUnknown,
  limits,
  type PermissionSet,
  type PolicyRule,
  splitToolId,
} from '#model'
import { type Match, matchArguments } from './compare.ts'
import { isLike } from './glob.ts'

export type Verdict = { action: 'allow' | 'ask' | 'deny'; because: string }

/** `danger` is why the tool asks even where its effect is allowed. */
type Question = { tool: string; effect: Effect; danger: string | null; args: unknown }

/** `effects` where arguments decide: every class that a call can have. */
type EarlyQuestion = Omit<Question, 'args'> & { effects?: readonly Effect[] | undefined }

const sets: Record<PermissionSet, Record<EffectKind, Verdict['action']>> = {
  minimal: { read: 'allow', idempotent: 'deny', keyed: 'deny', unsafe: 'deny' },
  standard: { read: 'allow', idempotent: 'allow', keyed: 'ask', unsafe: 'ask' },
  privileged: { read: 'allow', idempotent: 'allow', keyed: 'allow', unsafe: 'allow' },
}

export function decide(question: Question, permissions: PermissionSet, rules: readonly PolicyRule[]): Verdict {
  const work = { left: limits.policyStepsMax }
  for (const [index, rule] of rules.entries()) {
    const match = isAbout(rule, question) ? matchArguments(rule, question.args, work) : null
    if (match !== null) return byRule(rules, index, match)
  }
  return bySet(question, permissions)
}

/**
 * The same before the arguments are known: null where they decide, also by the class that they make
 * of the call.
 */
export function decideEarly(
  { effects, ...question }: EarlyQuestion,
  permissions: PermissionSet,
  rules: readonly PolicyRule[],
): Verdict | null {
  const classes = effects ?? [question.effect]
  const verdicts = classes.map((effect) => decideClass({ ...question, effect }, permissions, rules))
  const [first] = verdicts
  return first != null && verdicts.every((verdict) => verdict?.action === first.action) ? first : null
}

function decideClass(
  question: Omit<Question, 'args'>,
  permissions: PermissionSet,
  rules: readonly PolicyRule[],
): Verdict | null {
  const index = rules.findIndex((rule) => isAbout(rule, question))
  if (index < 0) return bySet(question, permissions)
  return Object.keys(rules[index]!.args ?? {}).length > 0 ? null : byRule(rules, index)
}

function byRule(rules: readonly PolicyRule[], index: number, { because: doubt }: Match = {}): Verdict {
  const because = `rule ${index + 1} of the policy: ${JSON.stringify(rules[index])}`
  return { action: rules[index]!.then, because: doubt === undefined ? because : `${because}, since ${doubt}` }
}

function bySet({ effect, danger }: Omit<Question, 'args'>, permissions: PermissionSet): Verdict {
  const kind = effectKind(effect)
  const action = sets[permissions][kind]
  const because = `permissions "${permissions}" for an effect of class "${kind}"`
  if (action === 'ask' && !effectClasses[kind].isRepeatable && danger === effectUnknown)
    return { action, because: `permissions "${permissions}" for ${danger}` }
  if (action !== 'allow' || danger === null || permissions === 'privileged') return { action, because }
  return { action: 'ask', because: `permissions "${permissions}" for what is dangerous: ${danger}` }
}

/**
 * Whether a question was asked by a line of policy or by the permission set, as its reason says;
 * else by what asks whatever they say.
 */
export function isByPolicy(why: string): boolean {
  return /^(?:rule \d+ of the policy|permissions "\w+" for)\b/.test(why)
}

/**
 * The line that a human's yes to one tool becomes, or to all tools of its server where `covers`
 * says so. A server may call its tool `*`: such a line would be a yes to all of them.
 */
export function lineFor(tool: string, covers?: string): PolicyRule {
  const server = splitToolId(tool)?.server
  if ((covers ?? tool) === tool && !tool.includes('*')) return { tool, then: 'allow' }
  if (covers !== undefined && covers === `${server}:*`) return { tool: covers, then: 'allow' }
  const details =
    covers === undefined
      ? `a line with "${tool}" would mean other tools too; approve it once`
      : `"${covers}" is neither "${tool}" nor "${server}:*"`
  throw new AppError('INVALID_INPUT_PARAM', `Cannot write a line of policy for this tool: ${details}`, {
    param: 'scope',
    details,
    tool,
  })
}

/** What an agent asks for can only narrow what the configuration gives. */
export function narrower(a: PermissionSet, b: PermissionSet): PermissionSet {
  const order: PermissionSet[] = ['minimal', 'standard', 'privileged']
  return order.indexOf(a) < order.indexOf(b) ? a : b
}

/**
 * A rule that holds back is about a tool also where a `/` in its name would let it pass: who names
 * a tool must not dodge by it.
 */
export function isAbout(
  { tool: pattern, effect: kind, then }: PolicyRule,
  { tool, effect }: Omit<Question, 'args'>,
): boolean {
  if (kind !== undefined && kind !== effectKind(effect)) return false
  if (pattern === undefined) return true
  const work = { left: limits.policyStepsMax }
  return isLike(then === 'allow' ? pattern : pattern.replaceAll(/\*+/g, '**'), tool, work) === true
}
