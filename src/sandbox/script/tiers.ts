/**
 * The tiers of this machine: each tried once, and the strongest chosen that is not weaker than it
 * must be.
 */
import { AppError, isWeaker } from '#model'
import {
  type Binaries,
  type Filter,
  type MissingTier,
  notOnThisSystem,
  type ScriptTier,
  scriptTiers,
} from '#sandbox/host'
import type { BoxFactory } from './box-factory.ts'
import { type OpenTier, tryTier } from './tier.ts'

type TriedTier = OpenTier | MissingTier

type Tiers = {
  try(tier: ScriptTier, isRetest?: boolean): Promise<TriedTier>
  /** This one, or the strongest there is; never one below the least that is wanted. */
  choose(requested: ScriptTier | null): Promise<OpenTier>
  /** For work of our own that only wants speed. */
  weakest(): Promise<OpenTier>
}

type TiersOptions = {
  factory(): Promise<BoxFactory>
  binaries: Binaries
  filter: Filter
  minTier: ScriptTier
}

export function openTiers({ factory, binaries, filter, minTier }: TiersOptions): Tiers {
  const tried = new Map<ScriptTier, Promise<TriedTier>>()

  async function attempt(tier: ScriptTier, isRetest: boolean): Promise<TriedTier> {
    if (process.platform !== 'linux') return notOnThisSystem(tier)
    const made = await factory()
    return tryTier({ factory: made, tier, binary: binaries[tier], filter, isRetest })
  }

  function remember(tier: ScriptTier, isRetest = false): Promise<TriedTier> {
    const known = tried.get(tier)
    if (known && !isRetest) return known
    const trying = attempt(tier, isRetest)
    tried.set(tier, trying)
    trying.catch(() => tried.delete(tier))
    return trying
  }

  async function first(wanted: ScriptTier[]): Promise<OpenTier> {
    const missing: MissingTier[] = []
    for (const tier of wanted) {
      const one = await remember(tier)
      if (one.ok) return one
      missing.push(one)
    }
    const { tier, detail, fix } = missing.at(-1)!
    const message = `Cannot run a script at tier ${tier}: ${detail}. Run: ${fix}`
    throw new AppError('SANDBOX_SETUP_FAILED', message, { minTier, fix, tiers: missing })
  }

  return {
    try: remember,
    async choose(requested) {
      if (requested === null) return first(scriptTiers.filter((tier) => !isWeaker(tier, minTier)).reverse())
      if (!isWeaker(requested, minTier)) return first([requested])
      const message = `Cannot run a script at tier ${requested}: the configuration wants ${minTier} at least (sandbox.minTier)`
      throw new AppError('PERMISSION_DENIED', message, { tier: requested, minTier })
    },
    weakest: () => first(scriptTiers),
  }
}
