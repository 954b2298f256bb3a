/** What a person does about a server whose tools ask because they say nothing of themselves. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'

import type { Tool } from '#model'
import { metier, workspace } from '#test'
import { effectsDetail } from './effects-detail.ts'

test('a question says that the effect is unknown and how to end it; effects suggest proposes classes and writes them', async (t) => {
  const space = workspace(t, { config: { policy: { permissions: 'standard', rules: [] } } })
  const { mcpServers } = JSON.parse(readFileSync(space.file, 'utf8'))
  const pretty = JSON.stringify(mcpServers.fx, null, 4).replaceAll('\n', '\n    ')
  const text = `{\n  // my servers\n  "mcpServers": {\n    "fx": ${pretty.replace('{', '{ // counts')}\n  }\n}\n`
  writeFileSync(space.file, text)
  const [asked] = (await metier(space, ['call', 'fx:add', '{"key":"a","by":1}', '--json'])).json.approvals
  assert.match(asked.why, /effect unknown/)
  const { stdout } = await metier(space, ['doctor'])
  assert.match(
    stdout,
    /server fx: .*with effect unknown, which ask each time.*\n.*metier effects suggest fx; by hand "effects": \{ "TOOL": "CLASS" \}/,
  )
  const shown = await metier(space, ['effects', 'suggest', 'fx', '--print', '--json'])
  assert.equal(shown.code, 0, shown.stderr)
  assert.equal(shown.json.written, false)
  assert.equal(shown.json.effects.add, 'unsafe', JSON.stringify(shown.json))
  assert.equal(shown.json.effects.pay, undefined, 'what the configuration says stays')
  assert.match((await metier(space, ['effects', 'suggest', 'fx'])).stderr, /Nothing is written: add --yes/)
  assert.equal(readFileSync(space.file, 'utf8'), text)
  const written = await metier(space, ['effects', 'suggest', 'fx', '--yes'])
  assert.equal(written.code, 0, written.stderr)
  const after = readFileSync(space.file, 'utf8')
  assert.match(after, /\/\/ my servers/)
  assert.match(after, /\{ \/\/ counts/)
  const tools = (await metier(space, ['tools', 'fx', '--json'])).json
  const add = tools.find(({ id }: { id: string }) => id === 'fx:add')
  assert.deepEqual([add.effect, add.effectFrom], ['unsafe', 'configuration'])
  assert.deepEqual((await metier(space, ['effects', 'suggest', 'fx', '--json'])).json.effects, {}, 'nothing is left')
  assert.match((await metier(space, ['effects', 'suggest', 'fy'])).stderr, /there is no server "fy"; did you mean fx/)
})

test('effectsDetail() shows as its example a tool that is proposed to be harmless, never one that may destroy', () => {
  const tools = ['edit_file', 'list_files'].map((name) => ({ name, effectFrom: 'default' }) as Tool)
  const proposals = [
    { tool: 'edit_file', effect: 'unsafe', because: 'edit' },
    { tool: 'list_files', effect: 'read', because: 'list' },
  ] as const
  assert.match(effectsDetail('fs', tools, proposals).fix!, /by hand "effects": \{ "list_files": "read" \}/)
  assert.match(effectsDetail('fs', tools, proposals.slice(0, 1)).fix!, /\{ "TOOL": "CLASS" \}/)
})
