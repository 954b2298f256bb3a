/** A session at a real terminal: a model is seen while it speaks, Ctrl-C interrupts, and resume. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  agentProject,
  binary,
  lastAnswer,
  metier,
  openScreen,
  type Project,
  providerStub,
  scriptAnswer,
  tmuxMissing,
  whyNot,
} from '#test'

const skip = tmuxMissing || whyNot('os')
const thought = 'I think about this at length before I write anything down.'

/** A provider that says each answer in two halves, with a pause between them. */
function slowProvider(t: TestContext, { folder }: Project) {
  const answers = [{ ...scriptAnswer('one.py', 'print(6 * 7)'), thought_process: thought }, lastAnswer('It is 42.')]
  return providerStub(t, join(folder, 'asked.jsonl'), (_, { body }) => {
    const heard = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
    return { text: JSON.stringify(answers[heard]), eachMs: 2000 }
  })
}

test('a model is seen while it speaks, on a line that goes; Ctrl-C interrupts, and resume ends with the result apart', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const space = agentProject(t, [])
  const stub = await slowProvider(t, space)
  const env = { PATH: process.env.PATH!, HOME: space.folder, METIER_HOME: space.home, METIER_CONFIG: space.file }
  const screen = await openScreen(t, {
    command: ['sh'],
    folder: space.folder,
    env: { ...env, PS1: '$ ' },
    columns: 220,
  })
  const run = (words: string) => screen.enter(`clear; ${binary} ${words}; echo "left $?"`)
  await run(`agent "What is it?" --model compatible:stub@${stub.url} --workspace ${space.project}`)
  await screen.shows(/^step 1 {2}….* I write anything down\. \(\d+ characters\)$/m)
  const ran = await screen.shows(/ran workbench\/scripts\/one\.py: return code 0 · 42/)
  assert.doesNotMatch(ran, /step 1 .*characters\)/)
  assert.match(ran, /^step 1 {2}I think about .* → runs workbench\/scripts\/one\.py \(\d+ tokens\)$/m)
  await screen.shows(/^step 2 {2}.*characters\)$/m)
  await screen.press('C-c')
  const stopped = await screen.shows(/left 130/)
  assert.match(stopped, /No result: interrupted/)
  const [{ session, status }] = (await metier(space, ['sessions', '--json'])).json
  assert.equal(status, 'interrupted')
  const before = stub.requests().length
  await run(`agent resume ${session}`)
  const seen = await screen.shows(/left 0/)
  assert.match(seen, /^Final result\s+It is 42\.$/m)
  assert.equal(stub.requests().length, before + 1, 'only the question that was cut off is asked again')
  assert.ok(stub.requests().every(({ body }) => body.stream === true))
})
