/** Installs that never end. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { installPeers, probePeers } from './peers.ts'

test('installPeers() gives up an install that never ends, names what is missing, and goes on with the next', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'metier-peers-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\ngrep -q langgraph package.json && exec sleep 60\nexit 0\n')
  chmodSync(join(folder, 'npm'), 0o755)
  const lines: string[] = []
  const from = performance.now()
  // npm is found by our own PATH, its children by the one that is given.
  const before = process.env.PATH
  process.env.PATH = `${folder}:${before}`
  try {
    installPeers({ folder, path: process.env.PATH, say: (line) => lines.push(line), msMax: 500 })
  } finally {
    process.env.PATH = before
  }
  assert(performance.now() - from < 30_000)
  assert(
    lines.includes('langgraph is missing: Cannot install from npm: it did not end within 500 ms'),
    lines.join('\n'),
  )
  assert.equal(probePeers(folder), 'langgraph not installed')
})
