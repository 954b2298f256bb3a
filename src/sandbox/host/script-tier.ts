/** The tiers that a script may run in: all but the one that only holds programs. */
import type { Tier } from '#model'

export type ScriptTier = Exclude<Tier, 'wasm'>
/** Weakest first. */
export const scriptTiers: ScriptTier[] = ['os', 'gvisor']
