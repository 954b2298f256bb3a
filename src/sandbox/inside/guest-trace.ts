/**
 * The pure operations that a program does, by name: they wait here as text until the host takes the
 * turn.
 */
// biome-ignore-all lint/style/useTemplate: the engine makes a template literal a call of a method that the program may overwrite.
import type { GuestLimits } from './guest-log.ts'

type GuestTrace = {
  /** From now on operations are noted; without it nothing is changed. */
  begin(): void
  /** Members of the turn's object, with a comma before them; nothing where nothing was done. */
  take(): string
}

/**
 * Runs inside the engine; see `bridge()` for what that allows. Each operation stands behind a
 * proxy: it has the name, the length and the text of what it stands for, and what it notes is out
 * of the program's reach. An operation inside another one's function is part of that one; the same
 * one again and again counts once.
 */
export function guestTrace(limits: Pick<GuestLimits, 'operations' | 'operationsMax'>): GuestTrace {
  const { create, defineProperty, getOwnPropertyDescriptor } = Object
  const { apply } = Reflect
  const ProxyHere = Proxy
  const owners: Record<string, object> = create(null)
  owners.array = Array.prototype
  owners.string = String.prototype
  owners.number = Number.prototype
  for (const one of [Array, Object, Number, String]) owners[one.name] = one
  owners.Math = Math
  owners.JSON = JSON
  let [names, last, count, dropped, isInside] = ['', '', 0, 0, false]

  function note(name: string): void {
    if (name === last) return
    last = name
    count += 1
    if (count > limits.operationsMax) dropped += 1
    else names = names === '' ? '"' + name + '"' : names + ',"' + name + '"'
  }

  function stand(owner: object, name: string): void {
    const known = getOwnPropertyDescriptor(owner, name)
    if (known === undefined || typeof known.value !== 'function') return
    const handler: ProxyHandler<(...values: unknown[]) => unknown> = create(null)
    handler.apply = (operation, self, values) => {
      if (isInside) return apply(operation, self, values)
      note(name)
      isInside = true
      try {
        return apply(operation, self, values)
      } finally {
        isInside = false
      }
    }
    known.value = new ProxyHere(known.value, handler)
    defineProperty(owner, name, known)
  }

  function begin(): void {
    for (const owner in limits.operations) {
      const list = limits.operations[owner]!
      for (let i = 0; i < list.length; i += 1) stand(owners[owner]!, list[i]!)
    }
  }

  function take(): string {
    const taken = count === 0 ? '' : ',"traced":[' + names + '],"untraced":' + dropped
    names = last = ''
    count = dropped = 0
    return taken
  }

  return { begin, take }
}
