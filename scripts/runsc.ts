/** The recipe for runsc, gVisor's program: built once with Go at the version that was tested; nothing to start. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runscModule } from '#sandbox'

export type RunscPlace = { folder: string; path: string; say(line: string): void }

/** Builds it where it is not there yet, beside its place, so that a killed build leaves nothing that looks ready. */
export function installRunsc({ folder, path, say }: RunscPlace): void {
  if (isCurrent(folder)) return
  const byHand = `CGO_ENABLED=0 go install ${runscModule}`
  const go = spawnSync('go', ['version'], { env: { ...process.env, PATH: path }, encoding: 'utf8' })
  if (go.status !== 0)
    throw new Error(`Cannot build runsc: there is no Go (1.26.3 or later). Install it, then run: ${byHand}`)
  say(`building ${runscModule} (some minutes, once)`)
  const draft = mkdtempSync(join(folder, 'build-'))
  try {
    const env = { ...process.env, PATH: path, GOBIN: draft, CGO_ENABLED: '0' }
    const args = ['install', '-trimpath', '-ldflags=-s -w', runscModule]
    const { status, stderr, error } = spawnSync('go', args, { env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    if (status !== 0) throw new Error(`Cannot build runsc: ${error?.message ?? stderr.trim()}. By hand: ${byHand}`)
    renameSync(join(draft, 'runsc'), join(folder, 'runsc'))
    writeFileSync(join(folder, 'module'), runscModule)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Null when it is there and starts; whether it closes a box is for the sandbox's own test to say. */
export function probeRunsc(folder: string): string | null {
  if (!isCurrent(folder)) return 'it is not built'
  const { status, stderr, error } = spawnSync(join(folder, 'runsc'), ['--version'], { env: {}, encoding: 'utf8' })
  return status === 0 ? null : (error?.message ?? stderr.trim())
}

function isCurrent(folder: string): boolean {
  if (!existsSync(join(folder, 'runsc')) || !existsSync(join(folder, 'module'))) return false
  return readFileSync(join(folder, 'module'), 'utf8') === runscModule
}
