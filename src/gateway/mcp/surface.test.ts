/** What every host sees is frozen here. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { Validator } from '@cfworker/json-schema'
import { instructions, surface, surfaceUnder } from './surface.ts'

const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex')

test('surface is three tools in constant order', () => {
  assert.deepEqual(
    surface.map(({ name }) => name),
    ['discover', 'execute', 'result'],
  )
})

test('surface is constant to the byte: whoever changes it breaks the prompt caches of every host, and says so here', () => {
  assert.equal(digest(surface), '740c2c89a712fa0ca8725aa7f44248ab54e16a5cf16c46d16a9b4cbe4d6fd463')
  assert.equal(digest(instructions), 'affdd16ad26ed8f0ef5d1803cef3c9f8659c8219ae8cfae94d8180b323c69a38')
})

test('surface and instructions cost a model at most 900 tokens, and discover does not send an agent away', () => {
  const listed = surface.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
  // Counted with o200k_base they are 894 tokens, 4.1 bytes each; this holds the bytes, so that a
  // change is counted anew.
  const bytes = Buffer.byteLength(JSON.stringify(listed)) + Buffer.byteLength(instructions)
  assert.ok(bytes <= 3676, `${bytes} bytes`)
  const [discover] = surface
  assert.doesNotMatch(discover!.description!, /no tool here does this/)
  for (const word of ['unsure', 'nothing_fits', 'brief', 'silent', 'still starting, ask again'])
    assert.match(discover!.description!, new RegExp(word))
  const { properties } = discover!.outputSchema as unknown as { properties: Record<string, { description?: string }> }
  assert.match(properties.silent!.description!, /still be starting, ask again/)
})

test('surface takes the parameters of the published interface', () => {
  const parameters = surface.map(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}).join(' '))
  assert.deepEqual(parameters, [
    'intent filter limit schemas',
    'intent implementation args mode mocks maxBranches resume permissions budget wait key',
    'run call path offset limit format',
  ])
  assert.deepEqual(
    surface.map(({ inputSchema }) => inputSchema.required ?? []),
    [['intent'], [], ['run']],
  )
})

test('surface says which tools only read, and asks hosts to load all three', () => {
  assert.deepEqual(
    surface.map(({ annotations, _meta }) => [annotations?.readOnlyHint, _meta]),
    [true, false, true].map((readOnly) => [readOnly, { 'anthropic/alwaysLoad': true }]),
  )
})

test('surfaceUnder() hints that execute may do harm only where no human is asked through us', () => {
  const hints = (permissions: 'minimal' | 'standard' | 'privileged') => {
    const { destructiveHint, openWorldHint } = surfaceUnder(permissions)[1]!.annotations!
    return [destructiveHint, openWorldHint]
  }
  assert.deepEqual(
    ['minimal', 'standard'].map((set) => hints(set as 'minimal')),
    Array(2).fill([false, false]),
  )
  assert.deepEqual(hints('privileged'), [true, true])
  assert.deepEqual(
    surfaceUnder('privileged').map(({ annotations: _, ...tool }) => tool),
    surface.map(({ annotations: _, ...tool }) => tool),
    'what a model reads stays the same',
  )
})

test('instructions teach the three verbs in at most 600 characters', () => {
  assert.ok(instructions.length <= 600, `${instructions.length} characters`)
  const order = ['discover(', 'execute(', 'result('].map((verb) => instructions.indexOf(verb))
  assert.ok(order.every((at, i) => at >= 0 && at > (order[i - 1] ?? -1)))
})

const error = { code: 'RUN_NOT_FOUND', message: 'Cannot find', context: {}, fate: 'correct' }
const base = { run: 'r', callCount: 1, ms: 2.5, isolation: { tier: 'os' } }
const answers: Record<string, object[]> = {
  discover: [
    { status: 'nothing_fits', results: [], unmatched: ['whale'], nearest: ['a:b'] },
    {
      status: 'found',
      results: [{ type: 'tool', id: 'a:b', score: 0.5, why: 'name', input: '{}', effect: 'read' }],
      unmatched: [],
      nearest: [],
    },
    {
      status: 'unsure',
      results: [{ type: 'tool', id: 'a:b', score: 0.3, brief: true, description: 'Do it.' }],
      unmatched: [],
      nearest: [],
      silent: ['late'],
    },
    {
      status: 'found',
      results: [{ type: 'capability', id: 'cap:x', score: 1, input: {}, record: { runs: 1 } }],
      unmatched: [],
      nearest: [],
    },
  ],
  execute: [
    { ...base, status: 'done', result: null },
    { ...base, status: 'done', preview: 'xx', bytes: 9000, handle: { run: 'r' } },
    { ...base, status: 'failed', error, calls: [{ call: '1' }] },
    { ...base, status: 'cancelled', isolation: null },
    { status: 'suggested', suggestion: { tasks: [] } },
    { ...base, status: 'approval_required', approvals: [{ id: 'a' }] },
    { ...base, status: 'uncertain', calls: [{ call: '1' }], approvals: [] },
    { ...base, status: 'running', inFlight: [{ call: '1' }], approvals: [] },
    { ...base, status: 'running', interrupted: true, inFlight: [] },
    { status: 'done', run: 'r', error },
  ],
  result: [
    { run: 'r', status: 'done', value: [1], offset: 0, next: 10, bytes: 3, digest: 'd' },
    { run: 'r', status: 'done', text: 'x', offset: 0, next: null, bytes: 3, digest: 'd' },
    { run: 'r', status: 'running', value: null, offset: 0, next: null, bytes: null, digest: null },
  ],
}

for (const { name, outputSchema } of surface) {
  test(`outputSchema of ${name} holds every answer and every error, and nothing else`, () => {
    const validator = new Validator(outputSchema as object, '2020-12')
    for (const answer of [...answers[name]!, { error }]) {
      const { valid, errors } = validator.validate(answer)
      assert.ok(valid, `${JSON.stringify(answer)}: ${JSON.stringify(errors)}`)
    }
    for (const wrong of [{}, { error: 'text' }, { run: 1 }, []]) assert.equal(validator.validate(wrong).valid, false)
  })
}
