/** What a program's text may and may not be. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, limits } from '#model'
import { prepareProgram } from '#sandbox'

function refusal(code: string): AppError {
  try {
    prepareProgram(code)
  } catch (thrown) {
    assert(thrown instanceof AppError)
    return thrown
  }
  throw new assert.AssertionError({ message: `was accepted: ${code.slice(0, 80)}` })
}

test('prepareProgram() strips types and keeps every line and column', () => {
  const code = 'const é: string = "€";\nlet x = (y: number): y is 2 => y === 2\nreturn x as unknown'
  const { source } = prepareProgram(code)
  const body = source.split('\n').slice(1, -1).join('\n')
  assert.equal(body.length, code.length)
  assert.equal(body.indexOf('"€"'), code.indexOf('"€"'))
  assert.equal(body.split('\n')[1]!.indexOf('=>'), code.split('\n')[1]!.indexOf('=>'))
  assert(!source.includes('string') && !source.includes('unknown'))
})

test('prepareProgram() gives the same text the same digest, and another text another', () => {
  assert.equal(prepareProgram('return 1').digest, prepareProgram('return 1').digest)
  assert.notEqual(prepareProgram('return 1').digest, prepareProgram('return 2').digest)
})

test('prepareProgram() names the line and column of a fault', () => {
  const faults: [code: string, line: number, column: number][] = [
    ['const a = 1\nconst b = = 2\nreturn a', 2, 11],
    ['return 1 +', 1, 11],
    ['let s = `a', 1, 1],
    ['enum Color { Red }', 1, 1],
    ['\n\nimport fs from "node:fs"', 3, 1],
    ['export const a = 1', 1, 1],
    ['yield 1', 1, 1],
    ['/* never closed', 1, 1],
    ['"never closed', 1, 1],
    ['var x = 010', 1, 9],
    ['with (args) {}', 1, 1],
    ['let let = 1', 1, 5],
  ]
  for (const [code, line, column] of faults) {
    const error = refusal(code)
    assert.equal(error.code, 'PROGRAM_ERROR', code)
    assert.equal(error.context.line, line, `${code}: ${error.message}`)
    if (column > 1) assert.equal(error.context.column, column, `${code}: ${error.message}`)
    assert.match(error.message, /^Cannot read the program: /)
  }
})

test('prepareProgram() refuses a body that leaves its wrapper, by whatever trick, and says where', () => {
  const tricks: [code: string, line: number, column?: number][] = [
    ['} ; globalThis.pwn = 1; {', 1],
    ['return 1\n}\nglobalThis.pwn = 1\n{', 3],
    ['}); globalThis.pwn = 1; (async () => {', 1, 1],
    ['return 1\n  }, function () {', 2, 3],
    ['if (1) {}\n  } /* { */ ; globalThis.pwn = 1; {', 2],
    ['const s = "}"; }, () => {', 1, 16],
    ['const r = /}/; }, () => {', 1, 16],
    ['const t = `}${"}"}`; }, () => {', 1, 22],
    ['//\u2028}, () => {', 1, 4],
    ['//\u2029}, () => {', 1, 4],
    ['/* */ }) /* */ ; pwn(); ({', 1, 7],
    ['} async function other() {', 1],
    ['})(); (async () => {', 1, 1],
    ['} catch {} try {', 1],
    ['<!-- }\n}, () => {', 1],
    ['x <!-- /*\n}, () => { /* */', 2, 1],
  ]
  for (const [code, line, column] of tricks) {
    const { code: kind, message, context } = refusal(code)
    assert.equal(kind, 'PROGRAM_ERROR', code)
    assert.equal(context.line, line, `${code}: ${message}`)
    if (column) assert.equal(context.column, column, `${code}: ${message}`)
  }
})

test('prepareProgram() accepts what only looks like leaving', () => {
  for (const code of [
    'return "} ; {"',
    'return `}${{ a: 1 }.a}{`',
    'return /}{/.test("}{")',
    '// }\nreturn 1',
    '/* } */ return 1',
    'return 1 // {',
    'x: { break x }',
    'return 1 <!-- } pwn {',
    '<!-- } pwn {\nreturn 1',
    'return (() => {})()\n--> } pwn {',
  ]) {
    assert.match(prepareProgram(code).source, /^\(async function/, code)
  }
})

test('prepareProgram() bounds the size of a program', () => {
  const error = refusal(`return "${'é'.repeat(limits.programBytesMax / 2)}"`)
  assert.equal(error.code, 'PLAN_INVALID')
  assert.match(prepareProgram(`return "${'x'.repeat(limits.programBytesMax - 9)}"`).digest, /^[0-9a-f]{64}$/)
})

test('prepareProgram() survives a text that breaks the stripper', () => {
  for (const nested of ['('.repeat(100_000), '['.repeat(100_000), '`${'.repeat(50_000), 'a=>'.repeat(80_000)]) {
    assert.equal(refusal(nested).code, 'PROGRAM_ERROR')
    assert(prepareProgram('const x: number = 1; return x').source.includes('const x         = 1'))
  }
})

test('prepareProgram() says nothing on standard error', async () => {
  const { spawnSync } = await import('node:child_process')
  const script = `import { prepareProgram } from ${JSON.stringify(import.meta.resolve('#sandbox'))}; prepareProgram('let x: number = 1')`
  const { stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.deepEqual({ stderr, status }, { stderr: '', status: 0 })
})
