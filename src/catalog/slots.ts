/** At most so many at once; whoever comes later waits in line and may leave it. */

export type Slots = { take(signal: AbortSignal): Promise<() => void> }

/** `take` resolves to the function that gives the place back; it rejects with the signal's reason. */
export function openSlots(count: number): Slots {
  const line: (() => void)[] = []
  let taken = 0
  const give = () => {
    taken--
    line.shift()?.()
  }
  const enter = () => {
    taken++
    let given = false
    return () => {
      if (!given) give()
      given = true
    }
  }
  return {
    async take(signal) {
      signal.throwIfAborted()
      if (taken < count && line.length === 0) return enter()
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      const turn = () => {
        signal.removeEventListener('abort', leave)
        resolve(enter())
      }
      const leave = () => {
        line.splice(line.indexOf(turn), 1)
        reject(signal.reason)
      }
      line.push(turn)
      signal.addEventListener('abort', leave, { once: true })
      return promise
    },
  }
}
