/**
 * The recipe for runsc, gVisor's program: built once with Go at the version that was tested;
 * nothing to start.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { runscModule } from '#sandbox'
import { type BuildPlace, hasGoBinary, installGoBinary } from './go-binary.ts'

const runsc = { name: 'runsc', module: runscModule, go: '1.26.3' }

export function installRunsc(place: BuildPlace): void {
  installGoBinary(runsc, place)
}

/**
 * Null when it is there and starts; whether it closes a box is for the sandbox's own test to say.
 */
export function probeRunsc(folder: string): string | null {
  if (!hasGoBinary(runsc, folder)) return 'it is not built'
  const { status, stderr, error } = spawnSync(join(folder, 'runsc'), ['--version'], { env: {}, encoding: 'utf8' })
  return status === 0 ? null : (error?.message ?? stderr.trim())
}
