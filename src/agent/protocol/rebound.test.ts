/** Strict where something would be done, tolerant elsewhere; each refusal says where and why. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forbiddenTarget, readRebound } from './rebound.ts'

const action = { type: 'exec_and_chain', target_script: 'workbench/scripts/a.py', continuation_prompt: 'go on' }
const read = (answer: object) => readRebound(JSON.stringify(answer))

test('an answer without a next action is the last; other members are passed over', () => {
  const last = { kind: 'final', text: 'It is 42.', thought: 't', drafts: [] }
  assert.deepEqual(read({ thought_process: 't', final_result: 'It is 42.', mood: 'good' }), last)
  assert.deepEqual(read({ thought_process: 't', next_action: null }), { ...last, text: 't' })
})

test('files and one action are read, also from a code fence after prose and thoughts', () => {
  const answer = { thought_process: 't', artifacts: [{ path: 'a', content: 'x' }], next_action: action }
  const reading = readRebound(
    `<think>{"thought_process":1}</think>Here:\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\``,
  )
  assert.deepEqual(reading, {
    kind: 'script',
    thought: 't',
    drafts: [{ path: 'a', content: 'x', encoding: 'utf8' }],
    target: 'workbench/scripts/a.py',
    prompt: 'go on',
  })
})

const refused: [string, object][] = [
  ['/thought_process must', { artifacts: [] }],
  ['/artifacts must', { thought_process: 't', artifacts: {} }],
  ['/artifacts/0/mode is not known', { thought_process: 't', artifacts: [{ path: 'a', content: '', mode: 1 }] }],
  ['/artifacts/0/path must', { thought_process: 't', artifacts: [{ path: '', content: '' }] }],
  [
    '/artifacts/0/content is not base64',
    { thought_process: 't', artifacts: [{ path: 'a', content: '!', encoding: 'base64' }] },
  ],
  ['/next_action must be one action', { thought_process: 't', next_action: [action] }],
  ['/next_action/type must', { thought_process: 't', next_action: { ...action, type: 'shell' } }],
  [
    '/next_action/type must be "exec_and_chain", the one action there is: no commands and no graphs',
    { thought_process: 't', next_action: { type: 'dag', tasks: [] } },
  ],
  ['/next_action/command is not known', { thought_process: 't', next_action: { ...action, command: 'ls' } }],
  [
    '/next_action/continuation_prompt must',
    { thought_process: 't', next_action: { ...action, continuation_prompt: ' ' } },
  ],
  ['/final_result must', { thought_process: 't', final_result: 42 }],
]

for (const [where, answer] of refused) {
  test(`refused: ${where}`, () => {
    const reading = read(answer)
    assert.ok(reading.kind === 'mistake' && reading.reason.startsWith(where), JSON.stringify(reading))
  })
}

test("the other protocol's syntax is refused with that reason", () => {
  const answer = JSON.stringify({ thought_process: 'I never write <tool_code>.', next_action: action })
  for (const text of ['<tool_code>print(1)</tool_code>', `${answer}\n<tool_code>\nprint(1)\n</tool_code>`]) {
    const reading = readRebound(text)
    assert.ok(reading.kind === 'mistake' && reading.reason.includes('another protocol'), text)
  }
  for (const text of [answer, `<think>Not <tool_code>.</think>${answer}`])
    assert.equal(readRebound(text).kind, 'script')
})

test('only Python files strictly below workbench/scripts/ may be run', () => {
  assert.equal(forbiddenTarget('workbench/scripts/a.py'), null)
  assert.equal(forbiddenTarget('workbench/scripts/deep/a.py'), null)
  const forbidden = [
    'src/a.py',
    '/tmp/a.py',
    'workbench/scripts/../../a.py',
    'workbench/scripts/a.sh',
    'workbench/scripts/.py',
  ]
  const odd = [
    'workbench/scripts',
    'Workbench/scripts/a.py',
    'workbench/scripts//a.py',
    'workbench/scripts/a\0.py',
    'workbench\\scripts\\a.py',
  ]
  for (const path of [...forbidden, ...odd]) assert.notEqual(forbiddenTarget(path), null, path)
})
