/** Tests of the recipe for runsc: it refuses with the command, and believes only what is there. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { runscModule } from '#sandbox'
import { installRunsc, probeRunsc } from './runsc.ts'

function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'runsc-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('installRunsc() says the exact command where there is no Go', (t) => {
  const [folder, path] = [emptyFolder(t), emptyFolder(t)]
  assert.throws(() => installRunsc({ folder, path, say: () => {} }), {
    message: `Cannot build runsc: there is no Go (1.26.3 or later). Install it, then run: CGO_ENABLED=0 go install ${runscModule}`,
  })
})

test('probeRunsc() believes only a program of the version that was tested, and that starts', (t) => {
  const folder = emptyFolder(t)
  assert.equal(probeRunsc(folder), 'it is not built')
  writeFileSync(join(folder, 'runsc'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  assert.equal(probeRunsc(folder), 'it is not built')
  writeFileSync(join(folder, 'module'), 'another')
  assert.equal(probeRunsc(folder), 'it is not built')
  writeFileSync(join(folder, 'module'), runscModule)
  assert.equal(probeRunsc(folder), null)
  writeFileSync(join(folder, 'runsc'), '#!/bin/sh\necho broken >&2; exit 1\n', { mode: 0o755 })
  assert.equal(probeRunsc(folder), 'broken')
})
