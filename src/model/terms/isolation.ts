/**
 * How a box was closed: part of every sandbox result and of every run, so that a weaker box is
 * never silent.
 */

/** Weakest first. `wasm` alone holds code; scripts need `os` or better. */
export const tiers = ['wasm', 'os', 'gvisor'] as const
export type Tier = (typeof tiers)[number]

export type IsolationReport = {
  tier: Tier
  /** From the inside out: `quickjs-wasm`, `process`, `bubblewrap`, `seccomp` … */
  layers: string[]
  runtime: { name: string; version: string }
  /** How each limit is enforced: `engine`, `rlimit`, `namespace`, `none` … */
  enforced: { memory: string; pids: string; cpu: string; disk: string; network: string; files: string }
  /** What is missing or weaker than it should be, in words. */
  degraded: string[]
}

export function isWeaker(tier: Tier, than: Tier): boolean {
  return tiers.indexOf(tier) < tiers.indexOf(than)
}
