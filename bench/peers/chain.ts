/**
 * The work that every engine is timed with: a chain of ten steps, many runs at once, each step with
 * a payload of 256 bytes.
 */
import { constants, setPriority } from 'node:os'

export const steps = 10
export const atOnce = 64
export const payload = 'x'.repeat(240)

/**
 * Other programs on the machine are no part of the comparison; where we may not say so, they are.
 */
export function preferUs(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {}
}

export type Rate = { perSecond: number; p50: number; p99: number }

/** `count` runs, `width` at a time; steps a second, and milliseconds a run. */
export async function rate(count: number, width: number, run: () => Promise<unknown>): Promise<Rate> {
  const times: number[] = []
  let begun = 0
  const began = performance.now()
  const lane = async () => {
    while (begun < count) {
      begun += 1
      const start = performance.now()
      await run()
      times.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: width }, lane))
  const elapsed = performance.now() - began
  return { perSecond: (count * steps * 1000) / elapsed, p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}

export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export function median(values: number[]): number {
  return quantile(values, 0.5)
}
