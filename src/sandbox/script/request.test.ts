/** What is refused of a request for a script, and by which name. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type AppError, limits } from '#model'
import { parseRequest, type ScriptRequest } from './request.ts'

const good: ScriptRequest = { interpreter: 'python', script: 'print(1)' }

function refusal(changes: object): AppError {
  try {
    parseRequest({ ...good, ...changes })
  } catch (thrown) {
    return thrown as AppError
  }
  return assert.fail(`it was accepted: ${JSON.stringify(changes)}`)
}

test('parseRequest() knows three interpreters, and go run by its short name', () => {
  const names = ['python', 'bash', 'go run', 'go']
  const parsed = names.map((interpreter) => parseRequest({ ...good, interpreter }).interpreter)
  assert.deepEqual(parsed, ['python', 'bash', 'go', 'go'])
  for (const interpreter of ['perl', 'Python', 'python3', '/bin/bash', 'bash -c', 'go run x', 'constructor', ' go']) {
    const { code, context } = refusal({ interpreter })
    assert.equal(code, 'SANDBOX_INVALID_INTERPRETER')
    assert.deepEqual(context.allowed_values, ['python', 'bash', 'go run'])
  }
  for (const interpreter of ['', '  ', undefined, null, 7, ['bash']]) {
    const { code, context } = refusal({ interpreter })
    assert.deepEqual([code, context.param], ['INVALID_INPUT_PARAM', 'interpreter'])
  }
})

test('parseRequest() refuses a script that is empty, no text, too long, or has a NUL', () => {
  const tooLong = 'x'.repeat(limits.scriptBytesMax + 1)
  for (const script of [
    '',
    ' \n\t',
    undefined,
    null,
    3,
    {},
    'a\0b',
    tooLong,
    'é'.repeat(limits.scriptBytesMax / 2 + 1),
  ]) {
    const { code, context } = refusal({ script })
    assert.deepEqual([code, context.param], ['INVALID_INPUT_PARAM', 'script'])
  }
  assert.equal(
    parseRequest({ ...good, script: 'x'.repeat(limits.scriptBytesMax) }).script.length,
    limits.scriptBytesMax,
  )
})

test('parseRequest() takes 60 s where none or no positive time is given, and 300 s at most', () => {
  const cases: [number | undefined, number, boolean][] = [
    [undefined, 60_000, false],
    [0, 60_000, false],
    [-1, 60_000, false],
    [Number.NEGATIVE_INFINITY, 60_000, false],
    [0.5, 500, false],
    [300, 300_000, false],
    [300.001, 300_000, true],
    [Number.POSITIVE_INFINITY, 300_000, true],
  ]
  for (const [seconds, timeoutMs, clamped] of cases) {
    const parsed = parseRequest({ ...good, ...(seconds === undefined ? {} : { timeoutSeconds: seconds }) })
    assert.deepEqual([parsed.timeoutMs, parsed.clamped], [timeoutMs, clamped], String(seconds))
  }
  for (const timeoutSeconds of ['60', null, Number.NaN, {}]) {
    assert.equal(refusal({ timeoutSeconds }).context.param, 'timeoutSeconds')
  }
})

test('parseRequest() has no network unless asked, and names the policies there are', () => {
  assert.equal(parseRequest(good).network, 'NONE')
  assert.equal(parseRequest({ ...good, network: 'OUTBOUND_LIMITED' }).network, 'OUTBOUND_LIMITED')
  for (const network of ['none', 'ALL', '', 1]) {
    const { code, context } = refusal({ network })
    assert.deepEqual([code, context.allowed_values], ['INVALID_INPUT_PARAM', ['NONE', 'OUTBOUND_LIMITED']])
  }
})

test('parseRequest() normalises where inputs go, and refuses every place but one below /inputs', () => {
  const paths = (...all: unknown[]) => ({ inputs: all.map((path) => ({ path, source: '/x' })) })
  const parsed = parseRequest({
    ...good,
    ...paths('/inputs/a', '/inputs//b/./c', '/inputs/d/../e', '/inputs/...'),
  } as never)
  assert.deepEqual(
    parsed.inputs.map(({ path }) => path),
    ['/inputs/a', '/inputs/b/c', '/inputs/e', '/inputs/...'],
  )
  const wrong = [
    'a',
    'inputs/a',
    '/inputs',
    '/inputs/',
    '/inputs/a/',
    '/inputs/..',
    '/inputs/../etc/x',
    '/etc/passwd',
    '/input/a',
  ]
  const odd = [
    '/inputs/a\0b',
    '/inputs/a\nb',
    `/inputs/${'x'.repeat(256)}`,
    `/inputs/${'x/'.repeat(600)}x`,
    '',
    7,
    null,
  ]
  for (const path of [...wrong, '/inputsx/a', '//inputs/../x', ...odd]) {
    const { code, context } = refusal(paths(path))
    assert.deepEqual([code, context.param], ['INVALID_INPUT_PARAM', 'inputs'], String(path))
  }
  for (const twice of [
    ['/inputs/a', '/inputs/a'],
    ['/inputs/a', '/inputs/./a'],
    ['/inputs/a', '/inputs/a/b'],
  ]) {
    assert.equal(refusal(paths(...twice)).context.param, 'inputs', twice.join())
  }
  const many = Array.from({ length: limits.scriptInputsMax + 1 }, (_, i) => `/inputs/${i}`)
  assert.match(refusal(paths(...many)).message, /at most 64/)
  for (const inputs of [{}, 'x', [null], [{ path: '/inputs/a' }], [{ path: '/inputs/a', source: 3 }]]) {
    assert.equal(refusal({ inputs }).context.param, 'inputs')
  }
})

test('parseRequest() normalises what is handed out, and refuses every place but one below /outputs', () => {
  const parsed = parseRequest({
    ...good,
    outputs: ['/outputs/a', '/outputs//b/./c', '/outputs/d/../e', '/outputs/...'],
  })
  assert.deepEqual(parsed.outputs, ['/outputs/a', '/outputs/b/c', '/outputs/e', '/outputs/...'])
  assert.deepEqual(parseRequest(good).outputs, [])
  const elsewhere = ['a', 'outputs/a', '/outputs', '/outputs/', '/outputs/a/', '/outputs/..', '/outputs/../etc/passwd']
  const odd = ['/outputs/a\nb', '/outputs/a\0b', '/outputs/\ud800', `/outputs/${'x'.repeat(256)}`, '', 7, null]
  for (const path of [...elsewhere, '/inputs/a', '/outputsx/a', `/outputs/${'x/'.repeat(600)}x`, ...odd]) {
    const { code, context } = refusal({ outputs: [path] })
    assert.deepEqual([code, context.param], ['INVALID_INPUT_PARAM', 'outputs'], String(path))
  }
  const twice = [
    ['/outputs/a', '/outputs/./a'],
    ['/outputs/a', '/outputs/a/b'],
  ]
  for (const outputs of twice) assert.equal(refusal({ outputs }).context.param, 'outputs', outputs.join())
  const many = Array.from({ length: limits.scriptOutputFilesMax + 1 }, (_, i) => `/outputs/${i}`)
  assert.match(refusal({ outputs: many }).message, /at most 64/)
  assert.equal(refusal({ outputs: '/outputs/a' }).context.param, 'outputs')
})
