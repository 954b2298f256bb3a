/** Prepares ahead what a first script would otherwise wait for, and throws away what is older. */
import { AppError, limits } from '#model'
import { type Bind, type Driver, removeOldSkeletons } from '#sandbox/script-box'
import type { BoxFactory } from './box-factory.ts'
import { environmentOf } from './environment.ts'
import { type GoToolchain, primeGo } from './go.ts'
import { primer } from './interpreter.ts'
import { type LanguageState, languageStates } from './language.ts'

export type Built = { root: string; languages: LanguageState[] }

export async function buildParts(factory: BoxFactory, driver: Driver, signal: AbortSignal): Promise<Built> {
  const { folder, view } = factory
  removeOldSkeletons(folder, view.skeleton)
  const go = factory.go()
  if (go && go.cache === null) await primeGo(folder, go, (binds) => compile(factory, { driver, go, binds, signal }))
  return { root: view.skeleton, languages: languageStates(factory) }
}

const primeBounds = {
  memoryBytes: limits.scriptPrimeMemoryBytesMax,
  diskBytes: limits.scriptPrimeDiskBytesMax,
  tasks: limits.scriptPrimeTasksMax,
  cpus: limits.scriptPrimeCpusMax,
}

type Compilation = { driver: Driver; go: GoToolchain; binds: Bind[]; signal: AbortSignal }

/** In a box too, at the place where scripts will see it: what Go remembers names that place. */
async function compile(factory: BoxFactory, { driver, go, binds, signal }: Compilation): Promise<void> {
  const box = await factory.make({
    driver,
    view: { ...factory.view, binds: [...factory.view.binds, ...binds] },
    launcher: primer,
    environment: environmentOf({ interpreter: 'go', outbound: false, goRoot: go.inside }),
    bounds: primeBounds,
  })
  const end = await box.run('', limits.scriptPrimeMsMax, signal)
  await box.gone
  if (end.exitCode === 0) return
  const said = end.stderr.text(limits.scriptErrorOutputBytesMax).trim()
  throw new AppError(
    'SANDBOX_SETUP_FAILED',
    `Cannot compile Go's standard library: ${said || (end.stopped ?? end.died)}`,
  )
}
