/**
 * The classes of effects: what a call does to the world, and so whether it may be sent again. One
 * table; configuration, search, policy and the rules of resending derive from its keys and columns.
 */
import { assert } from '#model/primitives'

type EffectClass = {
  /** A call whose outcome is unknown may be sent again. */
  isRepeatable: boolean
  /** It changes nothing: an open call can be dropped, a finished one leaves no trace. */
  isReadOnly: boolean
  /** Written `class:PARAM`: the parameter takes a key by which the server knows a repetition. */
  takesKey: boolean
}

/** A new class is a row here; what handles each class by itself then does not compile. */
export const effectClasses = {
  read: { isRepeatable: true, isReadOnly: true, takesKey: false },
  idempotent: { isRepeatable: true, isReadOnly: false, takesKey: false },
  keyed: { isRepeatable: true, isReadOnly: false, takesKey: true },
  unsafe: { isRepeatable: false, isReadOnly: false, takesKey: false },
} as const satisfies Record<string, EffectClass>

type EffectClasses = typeof effectClasses
export type EffectKind = keyof EffectClasses

/** The class of a call as it is written and recorded: `read`, `keyed:idempotency_key`. */
export type Effect = {
  [Kind in EffectKind]: EffectClasses[Kind]['takesKey'] extends true ? `${Kind}:${string}` : Kind
}[EffectKind]

export const effectKinds = Object.keys(effectClasses).filter(isEffectKind)

/** Each class as it is written, with PARAM for the name of a parameter. */
export const effectForms = effectKinds.map((kind) => (effectClasses[kind].takesKey ? `${kind}:PARAM` : kind))

/** Matches each class as it is written, and nothing else. */
export const effectPattern = `^(?:${effectKinds.map((kind) => (effectClasses[kind].takesKey ? `${kind}:.+` : kind)).join('|')})$`

const written = new RegExp(effectPattern)

export function isEffectKind(text: unknown): text is EffectKind {
  return typeof text === 'string' && Object.hasOwn(effectClasses, text)
}

export function isEffect(value: unknown): value is Effect {
  return typeof value === 'string' && written.test(value)
}

export function effectKind(effect: Effect): EffectKind {
  const [kind] = effect.split(':', 1)
  assert(isEffectKind(kind), `"${effect}" is a class of effects`)
  return kind
}

export function mayRepeat(effect: Effect): boolean {
  return effectClasses[effectKind(effect)].isRepeatable
}

export function isReadOnly(effect: Effect): boolean {
  return effectClasses[effectKind(effect)].isReadOnly
}

/** A call that was sent and not answered may have done something that no repetition settles. */
export function mayBeInDoubt(effect: Effect): boolean {
  return !mayRepeat(effect) || keyParameter(effect) !== null
}

/** The parameter that takes the key of a call; null where its class has none. */
export function keyParameter(effect: Effect): string | null {
  const kind = effectKind(effect)
  return effectClasses[kind].takesKey ? effect.slice(kind.length + 1) : null
}
