/** Which tier a script runs at: the strongest that holds here, never weaker than was asked for, else none. */
import { AppError, isWeaker } from '#model'
import type { MissingTier } from './fix.ts'
import { type ScriptTier, scriptTiers } from './plan.ts'
import type { OpenTier } from './tier.ts'

export type TriedTier = OpenTier | MissingTier

export async function chooseTier(
  tryOne: (tier: ScriptTier) => Promise<TriedTier>,
  { minTier, requested }: { minTier: ScriptTier; requested: ScriptTier | null },
): Promise<OpenTier> {
  if (requested !== null && isWeaker(requested, minTier)) {
    const message = `Cannot run a script at tier ${requested}: the configuration wants ${minTier} at least (sandbox.minTier)`
    throw new AppError('PERMISSION_DENIED', message, { tier: requested, minTier })
  }
  const wanted = requested ? [requested] : scriptTiers.filter((tier) => !isWeaker(tier, minTier)).reverse()
  const missing: MissingTier[] = []
  for (const tier of wanted) {
    const tried = await tryOne(tier)
    if (tried.ok) return tried
    missing.push(tried)
  }
  const { tier, detail, fix } = missing.at(-1)!
  const message = `Cannot run a script at tier ${tier}: ${detail}. Run: ${fix}`
  throw new AppError('SANDBOX_SETUP_FAILED', message, { minTier, fix, tiers: missing })
}

/** The weakest that holds, for work that is ours and only wants speed. */
export async function weakestTier(tryOne: (tier: ScriptTier) => Promise<TriedTier>): Promise<OpenTier> {
  for (const tier of scriptTiers) {
    const tried = await tryOne(tier)
    if (tried.ok) return tried
  }
  return chooseTier(tryOne, { minTier: 'os', requested: null })
}
