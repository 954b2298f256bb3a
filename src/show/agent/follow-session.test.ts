/** What a person sees of a session while it moves, and how they stop one. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { agentProject, agentWords, lastAnswer, metier, scriptAnswer, whyNot } from '#test'

const skip = whyNot('os')

test('progress says in words what each step does, and the result stands apart, alone on stdout', {
  skip,
}, async (t) => {
  const space = agentProject(t, [
    scriptAnswer('sum.py', 'print(6)'),
    { $tool: { name: 'discover', input: { intent: 'create a mission' } } },
    'no JSON',
    lastAnswer('It is 6.'),
  ])
  const { stdout, stderr } = await metier(space, agentWords(space, 'Add up'))
  assert.equal(stdout, 'It is 6.\n')
  const lines = stderr.replace(/\d+ tokens/g, 'N tokens').split('\n')
  assert.deepEqual(lines.slice(0, 5), [
    'step 1  run sum.py → writes workbench/scripts/sum.py → runs workbench/scripts/sum.py (N tokens)',
    '        wrote workbench/scripts/sum.py, 8 bytes',
    '        ran workbench/scripts/sum.py: return code 0 · 6',
    'step 2  uses discover "create a mission" (N tokens)',
    lines[4],
  ])
  assert.match(lines[4]!, /^ {8}found metier:create_mission, /)
  assert.equal(lines[5], 'step 3  an answer that cannot be used (N tokens)')
  assert.match(lines[6]!, /^ {8}System: Your answer was not used: it holds no JSON object\. Nothing of it was done\./)
  assert.deepEqual(lines.slice(7, 10), ['step 4  done → is done (N tokens)', '', 'Final result'])
  assert.doesNotMatch(stderr, /thought_process|[{}]/)
})

test('Ctrl-C leaves a session interrupted, also one that was resumed, and it goes on later', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const space = agentProject(t, [scriptAnswer('slow.py', 'import time\ntime.sleep(5)\nprint(1)'), lastAnswer('done')])
  const written = join(space.project, 'workbench', 'scripts', 'slow.py')
  const stop = { killWhen: () => existsSync(written), signal: 'SIGINT' as const }
  const first = await metier(space, agentWords(space, 'Wait', '--json'), stop)
  assert.deepEqual([first.code, first.json?.status], [130, 'interrupted'], first.stderr)
  const { session } = first.json
  const beganAt = Date.now()
  const again = { killWhen: () => Date.now() - beganAt > 2500, signal: 'SIGINT' as const }
  const second = await metier(space, ['agent', 'resume', session, '--json'], again)
  assert.deepEqual([second.code, second.json?.status], [130, 'interrupted'], second.stderr)
  const third = await metier(space, ['agent', 'resume', session, '--json'])
  assert.deepEqual([third.code, third.json.status, third.json.steps], [0, 'done', 2], third.stderr)
  assert.equal((await metier(space, ['session', 'verify', session])).code, 0)
})
