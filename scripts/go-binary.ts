/** A program that is built once with Go, at one pinned version, in the folder of its service. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `module` with its version, as `go install` takes it; `name` is the file that comes out. */
export type GoBinary = { name: string; module: string; go: string }
export type BuildPlace = { folder: string; path: string; say(line: string): void }

/**
 * Builds it where it is not there yet, beside its place, so that a killed build leaves nothing that
 * looks ready.
 */
export function installGoBinary({ name, module, go }: GoBinary, { folder, path, say }: BuildPlace): void {
  if (hasGoBinary({ name, module }, folder)) return
  const byHand = `CGO_ENABLED=0 go install ${module}`
  const found = spawnSync('go', ['version'], { env: { ...process.env, PATH: path }, encoding: 'utf8' })
  if (found.status !== 0)
    throw new Error(`Cannot build ${name}: there is no Go (${go} or later). Install it, then run: ${byHand}`)
  say(`building ${module} (some minutes, once)`)
  const draft = mkdtempSync(join(folder, 'build-'))
  try {
    const env = { ...process.env, PATH: path, GOBIN: draft, CGO_ENABLED: '0' }
    const args = ['install', '-trimpath', '-ldflags=-s -w', module]
    const { status, stderr, error } = spawnSync('go', args, { env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    if (status !== 0) throw new Error(`Cannot build ${name}: ${error?.message ?? stderr.trim()}. By hand: ${byHand}`)
    renameSync(join(draft, name), join(folder, name))
    writeFileSync(join(folder, 'module'), module)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

export function hasGoBinary({ name, module }: Pick<GoBinary, 'name' | 'module'>, folder: string): boolean {
  if (!existsSync(join(folder, name)) || !existsSync(join(folder, 'module'))) return false
  return readFileSync(join(folder, 'module'), 'utf8') === module
}
