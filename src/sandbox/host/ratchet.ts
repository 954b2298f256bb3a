/**
 * Remembers how well scripts and programs were closed in before: a weaker box needs the word of a
 * human.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, isWeaker, replaceFile, type Tier, tiers } from '#model'

type Memory = { strongest: Tier | null; accepted: Tier | null }

type Ratchet = {
  /** Refuses a tier weaker than one used before, unless it was accepted; else it counts as used. */
  use(tier: Tier): void
  accept(tier: Tier): void
}

/**
 * One for each: a program has a wall of its own, so that it may stand in a weaker box than a
 * script.
 */
const files = { script: 'tier.json', program: 'program-tier.json' }

export function openRatchet(folder: string, kind: keyof typeof files): Ratchet {
  const file = join(folder, files[kind])
  const save = (memory: Memory) => replaceFile(file, JSON.stringify(memory))
  return {
    use(tier) {
      const { strongest, accepted } = read(file)
      const isWeakerThanBefore = strongest !== null && isWeaker(tier, strongest)
      const isAccepted = accepted !== null && !isWeaker(tier, accepted)
      if (isWeakerThanBefore && !isAccepted) {
        const message = `Cannot run a ${kind} at tier ${tier}: tier ${strongest} was used here before. Make it available again (metier doctor says how), or accept the weaker one: metier sandbox accept ${tier}`
        throw new AppError('SANDBOX_TIER_DOWNGRADE', message, { tier, before: strongest })
      }
      if (strongest === null || isWeaker(strongest, tier)) save({ strongest: tier, accepted })
    },
    accept: (tier) => save({ ...read(file), accepted: tier }),
  }
}

/**
 * A human says that this tier will do for programs and for scripts, though a stronger one was used
 * before.
 */
export function acceptTier(folder: string, tier: Tier): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  openRatchet(folder, 'program').accept(tier)
  openRatchet(folder, 'script').accept(tier)
}

function read(file: string): Memory {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return { strongest: null, accepted: null }
    throw thrown
  }
  return parse(text)
}

/** What cannot be read is no permission: then the strongest tier counts as used before. */
function parse(text: string): Memory {
  try {
    const { strongest, accepted } = JSON.parse(text) as Memory
    const isKnown = (tier: Tier | null) => tier === null || tiers.includes(tier)
    if (isKnown(strongest) && isKnown(accepted)) return { strongest, accepted }
  } catch {
    // not even JSON
  }
  return { strongest: tiers.at(-1)!, accepted: null }
}
