/**
 * Checks that boxes run JavaScript that is their source without its types, whatever was there
 * before.
 */
import assert from 'node:assert/strict'
import { chmodSync, existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { strippedInside } from '#sandbox/prepare'
import { temporaryFolder } from '#test'
import { insideSource, programCommand } from './command.ts'

const sources = globSync('*.ts', { cwd: insideSource, exclude: ['*.d.ts'] })

test('strippedInside() has every file that runs inside a box without its types, for whoever reads it', (t) => {
  const umask = process.umask(0o077)
  t.after(() => process.umask(umask))
  const place = strippedInside(insideSource, join(temporaryFolder(t), 'sandbox'))
  assert.deepEqual(globSync('*', { cwd: place }).sort(), sources.map((name) => name.replace(/ts$/, 'js')).sort())
  for (const name of sources) {
    const file = join(place, name.replace(/ts$/, 'js'))
    const plain = stripTypeScriptTypes(readFileSync(join(insideSource, name), 'utf8'))
    assert.equal(readFileSync(file, 'utf8').replaceAll(/(from '[^']+)\.js'/g, "$1.ts'"), plain, name)
    assert.equal(statSync(file).mode & 0o777, 0o644)
  }
  assert.equal(statSync(place).mode & 0o777, 0o755)
})

test('strippedInside() mends what was changed, and names what it makes by what it is made from', (t) => {
  const folder = temporaryFolder(t)
  const place = strippedInside(insideSource, folder)
  const child = join(place, 'child.js')
  const text = readFileSync(child, 'utf8')
  chmodSync(child, 0o644)
  writeFileSync(child, 'process.exit(1)')
  assert.equal(strippedInside(insideSource, folder), place)
  assert.equal(readFileSync(child, 'utf8'), text)
  const other = temporaryFolder(t)
  writeFileSync(join(other, 'child.ts'), 'const one: number = 1')
  const elsewhere = strippedInside(other, folder)
  assert.notEqual(elsewhere, place)
  assert.match(readFileSync(join(elsewhere, 'child.js'), 'utf8'), /^const one {9}= 1$/)
})

test('strippedInside() leaves the source where nothing can be written, and where there are no types', (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '')
  assert.equal(strippedInside(insideSource, join(folder, 'file')), insideSource)
  assert.equal(strippedInside(folder, join(folder, 'sandbox')), folder)
  assert.equal(existsSync(join(folder, 'sandbox')), false)
})

test('programCommand() starts a box with JavaScript inside walls, and with the source where there are none', () => {
  const box = { node: process.execPath, stackBytes: 1024, addon: null, inside: '/somewhere/inside-1' }
  const walled = programCommand({ ...box, walls: { kind: 'bubblewrap', bwrap: '/usr/bin/bwrap', seccomp: null } })
  assert.ok(walled.args.includes('/box/inside/child.js'))
  assert.equal(walled.args[walled.args.indexOf('/box/inside') - 1], '/somewhere/inside-1')
  assert.ok(programCommand({ ...box, walls: { kind: 'none' } }).args.includes(join(insideSource, 'child.ts')))
})
