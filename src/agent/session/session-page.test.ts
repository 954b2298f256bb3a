/** The page shows everything of a session to a person, and nothing of it as a page of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sessionPage } from './session-page.ts'
import type { SessionView } from './session-view.ts'

const evil = '<script>alert(1)</script><img src=x onerror="alert(2)">'
const target_script = 'workbench/scripts/a.py'
const answer = {
  thought_process: `I think ${evil}`,
  artifacts: [{ path: target_script, content: `print("${evil}")` }],
  next_action: { type: 'exec_and_chain', target_script, continuation_prompt: 'Seen?' },
}
const at = '2026-11-18T12:00:00.000Z'
const file = { path: evil, sha256: 'a'.repeat(64), bytes: 1, step: 1, event: 2 }

function page(protocol: 'rebound' | 'tool_code', said: SessionView['said'], status: 'done' | 'failed' = 'done') {
  const plan = { goal: `Look ${evil}`, protocol, model: evil } as SessionView['plan']
  const times = { startedAt: at, endedAt: at, steps: 1, tokens: { input: 1, output: 2 }, cost: 0.5 }
  return sessionPage({ session: 's', plan, status, ...times, files: [file], outputs: [], said, repeated: [] })
}
const says = (role: 'user' | 'assistant' | 'system' | 'final', text: string) => ({
  at,
  step: 1,
  role,
  text,
  does: text,
})

test('what a model, a script or a file is called is text, wherever it stands', () => {
  const said = [
    says('user', evil),
    says('assistant', JSON.stringify(answer)),
    says('system', evil),
    says('final', evil),
  ]
  for (const html of [page('rebound', said), page('tool_code', said)]) {
    assert.doesNotMatch(html, /<script|<img|onerror="/)
    assert.match(html, /&lt;script&gt;alert\(1\)/)
  }
})

test('the result stands first; an answer is shown as what it wants done, in order', () => {
  const html = page('rebound', [says('assistant', JSON.stringify(answer)), says('final', 'It is 42.')])
  const places = [
    'It is 42.',
    'Step 1',
    'I think',
    `writes ${target_script}`,
    'Seen?',
    'the answer as it came',
    '0.5000 USD',
  ]
  const found = places.map((text) => html.indexOf(text))
  assert.ok(
    found.every((place) => place > 0),
    found.join(),
  )
  assert.deepEqual(
    found.slice(0, -1).toSorted((a, b) => a - b),
    found.slice(0, -1),
  )
  assert.match(
    page('tool_code', [says('assistant', '<tool_code>\nprint(1)\n</tool_code>')]),
    /runs a script[\s\S]*print\(1\)/,
  )
  assert.match(
    page('rebound', [says('final', 'PERMISSION_DENIED no')], 'failed'),
    /No result[\s\S]*PERMISSION_DENIED no/,
  )
})
