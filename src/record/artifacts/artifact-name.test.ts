/** Names of artifacts, as the issue words them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { artifactName } from './artifact-name.ts'

test('artifactName() keeps letters, digits, dot, underscore and hyphen, and turns the rest into _', () => {
  const names = {
    'execution.log': 'execution.log',
    'A-b_9.tar.gz': 'A-b_9.tar.gz',
    'x y/z\\w:ü.txt': 'x_y_z_w__.txt',
    'e\u0301.txt': '_.txt',
    '😀.png': '_.png',
    '.bashrc': 'bashrc',
    '...x': 'x',
    '../../etc/passwd': '_.._etc_passwd',
    '\0\n': '__',
  }
  for (const [name, clean] of Object.entries(names)) assert.equal(artifactName(name), clean)
})

test('artifactName() cuts in front of the extension', () => {
  assert.equal(artifactName(`${'a'.repeat(300)}.json`), `${'a'.repeat(250)}.json`)
  assert.equal(artifactName('é'.repeat(300)), '_'.repeat(255))
  assert.equal(artifactName(`a.${'b'.repeat(300)}`).length, 255)
  assert.equal(artifactName('a'.repeat(255)), 'a'.repeat(255))
})

test('artifactName() refuses a name of which nothing is left', () => {
  for (const name of ['', '.', '....']) assert.throws(() => artifactName(name), { code: 'INVALID_INPUT_PARAM' })
})
