/** Whether a call may be made: rules in order, the first match decides, else the permission set. */
import { atPointer, type Effect, isObject, type PermissionSet, type PolicyRule, toText } from '#model'

export type Verdict = { then: 'allow' | 'ask' | 'deny'; because: string }

export type Question = { tool: string; effect: Effect; args: unknown }

type EffectKind = 'read' | 'idempotent' | 'keyed' | 'unsafe'

const sets: Record<PermissionSet, Record<EffectKind, Verdict['then']>> = {
  minimal: { read: 'allow', idempotent: 'deny', keyed: 'deny', unsafe: 'deny' },
  standard: { read: 'allow', idempotent: 'allow', keyed: 'ask', unsafe: 'ask' },
  privileged: { read: 'allow', idempotent: 'allow', keyed: 'allow', unsafe: 'allow' },
}

export function decide(question: Question, permissions: PermissionSet, rules: readonly PolicyRule[]): Verdict {
  const index = rules.findIndex((rule) => matches(rule, question))
  const rule = rules[index]
  if (rule !== undefined)
    return { then: rule.then, because: `rule ${index + 1} of the policy: ${JSON.stringify(rule)}` }
  const kind = kindOf(question.effect)
  return { then: sets[permissions][kind], because: `permissions "${permissions}" for an effect of class "${kind}"` }
}

/** What an agent asks for can only narrow what the configuration gives. */
export function narrower(a: PermissionSet, b: PermissionSet): PermissionSet {
  const order: PermissionSet[] = ['minimal', 'standard', 'privileged']
  return order.indexOf(a) < order.indexOf(b) ? a : b
}

function kindOf(effect: Effect): EffectKind {
  return effect.startsWith('keyed:') ? 'keyed' : (effect as EffectKind)
}

function matches(rule: PolicyRule, { tool, effect, args }: Question): boolean {
  if (rule.tool !== undefined && !matchesPattern(rule.tool, tool)) return false
  if (rule.effect !== undefined && rule.effect !== kindOf(effect)) return false
  return Object.entries(rule.args ?? {}).every(([pointer, wanted]) => {
    const value = isObject(args) || Array.isArray(args) ? atPointer(args, pointer) : undefined
    if (value === undefined) return false
    return typeof wanted === 'string' && typeof value === 'string'
      ? matchesPattern(wanted, value)
      : toText(wanted) === toText(value)
  })
}

/** The whole value; `*` stops at `/`, `**` does not; never a value with `..`, which could leave the folder it names. */
export function matchesPattern(pattern: string, value: string): boolean {
  if (value.includes('..')) return false
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '[\\s\\S]*' : part === '*' ? '[^/]*' : RegExp.escape(part)))
    .join('')
  return new RegExp(`^${source}$`).test(value)
}
