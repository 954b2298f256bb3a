/** A folder for one test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from './scope.ts'

/** A folder that goes when the test ends. */
export function temporaryFolder(t: Scope, before: () => Promise<void> = async () => {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'metier-test-'))
  t.after(async () => {
    await before()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}
