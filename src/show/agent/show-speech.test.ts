/** A model is heard while it speaks, at a terminal alone; the record is the same. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newPlan, sessionKit } from '#agent'
import { type JsonObject, parseConfig } from '#model'
import { agentProject, caller, lastAnswer, type Project, whyNot } from '#test'
import { openVerbs } from '#verbs'
import { showSpeech } from './show-speech.ts'

type Listener = (session: string, text: string | null) => void

function terminal() {
  const lines: string[] = []
  const nobody = async () => null
  return { lines, key: nobody, line: nobody, live: (text: string) => void lines.push(text) }
}

test('showSpeech() draws the last words of the thought, not often, and clears them at the end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const shown = terminal()
  let hear: Listener = () => {}
  const onSpeech = (listener: Listener) => {
    hear = listener
    return () => {
      hear = () => {}
    }
  }
  const end = showSpeech(shown, onSpeech, 's', () => 2)
  for (const text of ['{"thought', '_process": "I look\\nat \\"it\\"', ' \u001b[2J']) hear('s', text)
  hear('another', 'nothing of it')
  assert.deepEqual(shown.lines, [])
  t.mock.timers.tick(100)
  assert.equal(shown.lines.length, 1)
  assert.match(shown.lines[0]!, /^step 2 {2}I look at "it" .*\(\d+ characters\)$/)
  assert.doesNotMatch(shown.lines[0]!, /\u001b/)
  hear('s', `${'x'.repeat(500)}", "artifacts": []}`)
  t.mock.timers.tick(100)
  assert.match(shown.lines[1]!, /^step 2 {2}…x{49} \(\d+ characters\)$/)
  hear('s', null)
  assert.deepEqual(shown.lines.slice(2), [''])
  end()
  hear('s', 'more')
  t.mock.timers.tick(100)
  assert.equal(shown.lines.length, 3)
})

async function pursued(space: Project, listener?: Listener, protocol: 'rebound' | 'tool_code' = 'rebound') {
  const { file, home, folder, project } = space
  const text = readFileSync(file, 'utf8')
  const config = parseConfig({ file, text, home, env: {}, directory: folder })
  const verbs = await openVerbs(config, { path: process.env.PATH!, sessions: async () => sessionKit })
  if (listener !== undefined) verbs.onSpeech(listener)
  const model = `scripted:${join(folder, 'answers.json')}`
  const plan = (await newPlan({ goal: 'Say', workspace: project, model, protocol }, config)) as unknown as JsonObject
  try {
    const run = String((await verbs.pursue({ plan, goal: 'Say' }, caller)).run)
    return { run, values: verbs.eventsOf(run, { type: 'call.resolved' }).map(({ body }) => ({ ...body, ms: 0 })) }
  } finally {
    // The books are written by then, and the session can be audited.
    await verbs.close()
  }
}

test('who listens hears each piece and the end of it; the answer is recorded as without them', async (t) => {
  const $delta = JSON.stringify(lastAnswer('said')).match(/.{1,20}/g)!
  const heard: [string, string | null][] = []
  const listened = await pursued(agentProject(t, [{ $delta }]), (run, text) => void heard.push([run, text]))
  assert.deepEqual(
    heard,
    [...$delta, null].map((text) => [listened.run, text]),
  )
  const alone = await pursued(agentProject(t, [{ $delta }]))
  assert.deepEqual(listened.values, alone.values)
})

test('a block whose tags come in pieces is one block: what is read is the whole answer', {
  skip: whyNot('os'),
}, async (t) => {
  const pieces = ['I look.\n<tool', '_code>\nprint(6 ', '* 7)\n</tool_c', 'ode>']
  const space = agentProject(t, [{ $delta: pieces }, 'It is 42.'])
  const heard: (string | null)[] = []
  await pursued(space, (_, text) => void heard.push(text), 'tool_code')
  assert.deepEqual(heard.slice(0, 5), [...pieces, null])
  const [step] = readdirSync(join(space.project, 'artifacts'))
  const read = (name: string) => readFileSync(join(space.project, 'artifacts', step!, name), 'utf8')
  assert.equal(read('tool_script.py'), 'print(6 * 7)\n')
  assert.match(read('tool_output.txt'), /^returncode: 0\n\n\[STDOUT\]\n42\n/)
})
