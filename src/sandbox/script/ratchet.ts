/** Remembers how well scripts were closed in before: a weaker box needs the word of a human. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, isWeaker } from '#model'
import { type ScriptTier, scriptTiers } from './plan.ts'

type Memory = { strongest: ScriptTier | null; accepted: ScriptTier | null }

export type Ratchet = {
  /** Refuses a tier weaker than one used before, unless someone accepted it; else it counts as used. */
  use(tier: ScriptTier): void
  accept(tier: ScriptTier): void
}

export function openRatchet(folder: string): Ratchet {
  const file = join(folder, 'tier.json')
  return {
    use(tier) {
      const { strongest, accepted } = read(file)
      const isWeakerThanBefore = strongest !== null && isWeaker(tier, strongest)
      const isAccepted = accepted !== null && !isWeaker(tier, accepted)
      if (isWeakerThanBefore && !isAccepted) {
        const message = `Cannot run a script at tier ${tier}: tier ${strongest} was used here before. Make it available again (metier sandbox test says how), or accept the weaker one`
        throw new AppError('SANDBOX_TIER_DOWNGRADE', message, { tier, before: strongest })
      }
      if (strongest === null || isWeaker(strongest, tier)) write(file, { strongest: tier, accepted })
    },
    accept: (tier) => write(file, { ...read(file), accepted: tier }),
  }
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
    const isKnown = (tier: ScriptTier | null) => tier === null || scriptTiers.includes(tier)
    if (isKnown(strongest) && isKnown(accepted)) return { strongest, accepted }
  } catch {
    // not even JSON
  }
  return { strongest: scriptTiers.at(-1)!, accepted: null }
}

/** Whole or not at all, whoever else writes. */
function write(file: string, memory: Memory): void {
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, JSON.stringify(memory), { mode: 0o600 })
  renameSync(draft, file)
}
