/** Tests of the house style: each rule is seen to fail on a bad file, and good files pass. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { blank } from './blank.ts'
import { tidy } from './tidy.ts'

const good = '/** A good file. */\n'
const manifest = JSON.stringify({
  imports: {
    '#run': './src/run/run.ts',
    '#model': './src/model/model.ts',
    '#test': './test/test.ts',
    '#package': './package.json',
  },
  dependencies: { zod: '1' },
  devDependencies: { typescript: '7' },
})

/** What tidy() says about a tree of these files, as it is printed. */
function problemsOf(files: Record<string, string>, functions: Record<string, number> = {}): string[] {
  const root = mkdtempSync(join(tmpdir(), 'tidy-'))
  try {
    const doors = { 'src/run/run.ts': good, 'src/model/model.ts': good, 'package.json': manifest }
    for (const [file, text] of Object.entries({ ...doors, ...files })) {
      mkdirSync(dirname(join(root, file)), { recursive: true })
      writeFileSync(join(root, file), text)
    }
    return tidy(root, { files: {}, functions }).map(({ file, line, problem }) => `${file}:${line}: ${problem}`)
  } finally {
    rmSync(root, { recursive: true })
  }
}

/** One bad line after a good opening: line 2. */
function problemOf(file: string, line: string): string | undefined {
  const problems = problemsOf({ [file]: `${good}${line}\n` })
  assert.ok(problems.length <= 1, problems.join('\n'))
  return problems[0]
}

const order = 'show > gateway > fleet > agent > verbs > learn > run > catalog > sandbox > tasks > record > model'

test('tidy() lets a good tree pass', () => {
  const files = {
    'src/main.ts': `${good}import about from '#package' with { type: 'json' }\nimport { run } from '#run'\nconsole.log(process.env.METIER_HOME ?? run)\n`,
    'src/run/engine.ts': `${good}import { z } from 'zod'\nimport type { Id } from '#model'\nexport const id = z as Id\n`,
    'src/run/run.ts': `// The front door.\nexport * from './engine.ts'\n`,
    'src/model/x.test.ts': `${good}import '#run'\nimport '#test'\nimport 'typescript'\nimport './model.ts'\nprocess.env.LONG\n`,
    'test/test.ts': `${good}import '#run'\nexport const outside = 'a/../b'\n`,
    'scripts/database.ts': `#!/usr/bin/env node\n${good}const code = "import x from '../y'"\nconst base = /['"]/\n`,
    'docs/a.md': `# One\n\n\`\`\`sh\n# a comment\ngrep ${['TO', 'DO'].join('')}\n\`\`\`\n`,
  }
  assert.deepEqual(problemsOf(files), [])
})

test('tidy() lets imports go down the list of folders only', () => {
  const refusal = `src/model/a.ts:2: may not import up or sideways (${order}): '#run'`
  assert.equal(problemOf('src/model/a.ts', "import '#run'"), refusal)
  assert.equal(problemOf('src/model/a.ts', "import type { A } from '#run'"), refusal)
  assert.equal(problemOf('src/model/a.ts', "const a = await import('#run')"), refusal)
  assert.match(problemOf('src/run/a.ts', "import '#run'") ?? '', /may not import up or sideways/)
  assert.match(problemOf('src/run/a.ts', "import '#show'") ?? '', /may not import up or sideways/)
  assert.equal(problemOf('src/run/a.ts', "import '#model'"), undefined)
})

test('tidy() lets show and gateway reach the world through the verbs only', () => {
  for (const below of ['record', 'catalog', 'run', 'tasks'])
    for (const above of ['show', 'gateway'])
      assert.match(
        problemOf(`src/${above}/${above}.ts`, `const a = await import('#${below}')`) ?? '',
        /reaches past the verbs/,
      )
  assert.match(problemOf('src/gateway/gateway.ts', "import '#sandbox'") ?? '', /reaches past the verbs/)
  assert.equal(problemOf('src/gateway/gateway.ts', "import '#model'"), undefined)
})

test('tidy() lets nobody past a front door', () => {
  assert.match(
    problemOf('src/run/a.ts', "import '#model/ids.ts'") ?? '',
    /^src\/run\/a.ts:2: imports something that is no door/,
  )
  assert.match(
    problemOf('src/main.ts', "import './run/engine.ts'") ?? '',
    /^src\/main.ts:2: imports a file inside a folder/,
  )
  assert.match(problemOf('src/run/a.ts', "import '#test'") ?? '', /imports what only tests may/)
  assert.match(problemOf('src/run/a.ts', "import '#test/run'") ?? '', /imports what only tests may/)
  assert.match(problemOf('src/run/a.test.ts', "import '#test/nothing'") ?? '', /no door/)
  assert.match(problemOf('src/run/a.ts', "import './a.test.ts'") ?? '', /imports a test/)
})

test('tidy() lets a room be entered by its own folder only, through its door', () => {
  const door = { 'src/run/structure/structure.ts': good, 'src/record/record.ts': good }
  const said = (file: string, line: string) => problemsOf({ ...door, [file]: `${good}${line}\n` })
  assert.deepEqual(said('src/run/a.ts', "import '#run/structure'"), [])
  assert.deepEqual(said('src/run/structure/a.ts', "import './structure.ts'"), [])
  assert.deepEqual(said('test/a.ts', "import '#run/structure'"), [])
  assert.match(said('src/run/a.ts', "import './structure/structure.ts'")[0] ?? '', /inside a room instead of its door/)
  assert.match(said('src/run/a.ts', "import '#run/attic'")[0] ?? '', /imports something that is no door/)
  assert.match(said('src/verbs/verbs.ts', "import '#run/structure'")[0] ?? '', /imports a room of another folder/)
  assert.match(said('src/run/structure/a.ts', "import '#run/structure'")[0] ?? '', /may not import up or sideways/)
  assert.match(said('src/run/structure/a.ts', "import '#run'")[0] ?? '', /may not import up or sideways/)
})

test('tidy() refuses to climb out of a folder', () => {
  for (const file of [
    'src/run/a.ts',
    'src/run/a.test.ts',
    'scripts/a.ts',
    'test/e2e/a.ts',
    'bench/a.ts',
    'examples/a.ts',
  ]) {
    assert.equal(problemOf(file, "import x from '../x.ts'"), `${file}:2: climbs out of its folder: '../x.ts'`)
  }
  assert.match(problemOf('src/run/a.ts', "import './b/../x.ts'") ?? '', /climbs out of its folder/)
  assert.match(
    problemOf('src/run/a.ts', "new URL('../x.ts', import.meta.url)") ?? '',
    /a.ts:2: climbs out of its folder/,
  )
  assert.match(problemOf('src/run/a.ts', "join(import.meta.dirname, '..')") ?? '', /a.ts:2: climbs out of its folder/)
})

test('tidy() finds import cycles between files, also of types', () => {
  const problems = problemsOf({
    'src/run/a.ts': `${good}import './b.ts'\n`,
    'src/run/b.ts': `${good}import './c.ts'\n`,
    'src/run/c.ts': `${good}import type { A } from './a.ts'\n`,
  })
  assert.deepEqual(problems, [
    'src/run/a.ts:1: imports itself: src/run/a.ts > src/run/b.ts > src/run/c.ts > src/run/a.ts',
  ])
})

test('tidy() knows the packages that the product may use', () => {
  assert.match(
    problemOf('src/run/a.ts', "import 'left-pad/sub'") ?? '',
    /package that package.json does not name: 'left-pad\/sub'/,
  )
  assert.match(problemOf('src/run/a.ts', "import 'typescript'") ?? '', /package that package.json does not name/)
  assert.match(problemOf('src/run/a.ts', "import './b'") ?? '', /without its extension/)
})

test('tidy() lets only main.ts read the environment', () => {
  for (const line of [
    'const home = process.env.HOME',
    'const { HOME } = process?.env',
    "import { env } from 'node:process'",
  ]) {
    assert.equal(problemOf('src/run/a.ts', line), 'src/run/a.ts:2: reads the environment: only src/main.ts may')
    assert.equal(problemOf('src/main.ts', line), undefined)
    assert.equal(problemOf('scripts/a.ts', line), undefined)
  }
})

test('tidy() wants one sentence at the top of each file', () => {
  const opening = ['scripts/a.ts:1: does not open with a sentence that says what it is for']
  for (const text of [
    'export {}\n',
    '/** no full stop */\n',
    '/** */\n',
    '// biome-ignore lint: reason.\n',
    '/* Not a doc. */\n',
    '',
  ]) {
    assert.deepEqual(problemsOf({ 'scripts/a.ts': text }), opening, text)
  }
})

test('tidy() bounds the length of shipped files', () => {
  const long = (lines: number) => good + 'export {}\n'.repeat(lines - 1)
  assert.deepEqual(problemsOf({ 'src/run/a.ts': long(300), 'src/run/a.test.ts': long(900) }), [])
  assert.deepEqual(problemsOf({ 'src/run/a.ts': long(301) }), ['src/run/a.ts:301: has 301 lines: is it one idea?'])
})

test('tidy() bounds functions, except those on a list that only shrinks', () => {
  const long = (lines: number) => `${good}export function f() {\n${'  g()\n'.repeat(lines - 2)}}\nf()\n`
  const use = `${good}import { f } from './a.ts'\nf()\n`
  const said = (lines: number, exempt?: Record<string, number>) =>
    problemsOf({ 'src/run/a.ts': long(lines), 'src/run/run.ts': use }, exempt).map((problem) => problem.slice(13))
  assert.deepEqual(said(70), [])
  assert.deepEqual(said(71), ['2: "f" has 71 lines: does it do one thing?'])
  assert.deepEqual(said(71, { 'src/run/a.ts#f': 71 }), [])
  assert.match(said(80, { 'src/run/a.ts#f': 90 })[0] ?? '', /is exempt with 90 lines and has 80: lower the exemption/)
  assert.match(said(60, { 'src/run/a.ts#f': 71 })[0] ?? '', /is exempt with 71 lines and has 60/)
})

test('tidy() refuses exports that nothing imports', () => {
  const files = {
    'src/run/a.ts': `${good}export const used = 1\nexport type Unused = 1\nexport const lazy = 2\n`,
    'src/run/run.ts': `${good}import { used } from './a.ts'\nconst { lazy } = await import('./a.ts')\nused + lazy\n`,
  }
  assert.deepEqual(problemsOf(files), ['src/run/a.ts:3: exports "Unused", which nothing imports'])
})

test('tidy() refuses names of files and of types in words that no reader can look up', () => {
  const noun = /where the field has a noun/
  assert.match(problemOf('src/run/told.ts', '') ?? '', /^src\/run\/told.ts:1: "told" says "told" where/)
  assert.match(problemOf('test/was-heard.ts', '') ?? '', noun)
  assert.match(problemOf('src/run/a.ts', 'type Asked = string') ?? '', noun)
  assert.match(problemOf('test/a.ts', 'interface WasSeen {}') ?? '', noun)
  for (const line of ['type AskedCall = string', 'const seen = 1', "const text = 'type Asked'"])
    assert.equal(problemOf('src/run/a.ts', line), undefined, line)
})

test('tidy() refuses exported names in words that no reader can look up', () => {
  const said = (name: string) => {
    const use = `${good}import { ${name} } from './a.ts'\n${name}\n`
    return problemsOf({ 'src/run/a.ts': `${good}export const ${name} = 1\n`, 'src/run/run.ts': use })
  }
  for (const name of ['told', 'wholeTold', 'Heard', 'openDesk', 'kinOf', 'visible', 'Surroundings', 'openWorkshop'])
    assert.match(said(name)[0] ?? '', new RegExp(`^src/run/a.ts:2: "${name}" says ".*" where the field has a noun`))
  for (const name of ['inFlight', 'untilKnown', 'toldOnce', 'planOf', 'isVisible'])
    assert.deepEqual(said(name), [], name)
})

test('tidy() bounds the width of comments, and of nothing else', () => {
  const wide = 'x'.repeat(100)
  const problem = /:2: has a comment of 10\d columns: at most 100/
  for (const comment of [`// ${wide}`, `/** ${wide} */`, `/* ${wide} */`])
    assert.match(problemOf('scripts/a.ts', comment) ?? '', problem)
  assert.equal(problemOf('scripts/a.ts', `const text = '// ${wide}'`), undefined)
  assert.equal(problemOf('scripts/a.ts', `const text = \`\n// ${wide}\n\``), undefined)
})

test('tidy() refuses turns of phrase in comments: pronouns everywhere, the others in the product', () => {
  for (const phrase of ['made anew', 'is said aloud', 'in the older era', 'hears out', 'the oldest manner'])
    assert.match(problemOf('src/run/a.ts', `// It ${phrase}.`) ?? '', /^src\/run\/a.ts:2: says ".*" in a comment/)
  for (const pronoun of ['whoever', 'Nobody', 'somebody', 'everyone'])
    assert.match(
      problemOf('src/run/a.ts', `// ${pronoun} asks.`) ?? '',
      /^src\/run\/a.ts:2: says ".*" in a comment: name/,
    )
  assert.match(problemOf('test/a.ts', '// Nobody asks.') ?? '', /^test\/a.ts:2: says "Nobody" in a comment: name/)
  assert.equal(problemOf('src/run/a.ts', '// The script becomes the user `nobody`.'), undefined)
  assert.match(problemOf('src/gateway/gateway.ts', '// It stays at the door.') ?? '', /says "door" in a comment/)
  for (const line of ['// Through its front door.', '// A back door.', "const text = 'the door'"])
    assert.equal(problemOf('src/run/a.ts', line), undefined, line)
  assert.equal(problemOf('test/a.ts', '// It is made anew.'), undefined)
  assert.equal(problemOf('src/run/a.ts', "export const text = 'made anew'")?.includes('in a comment') ?? false, false)
})

test('tidy() refuses names that end in an empty word', () => {
  for (const name of ['RunManager', 'runHelper', 'DbUtils', 'NodeBase', 'StoreImpl', 'Service']) {
    assert.match(problemOf('src/run/a.ts', `const ${name} = 1`) ?? '', new RegExp(`^src/run/a.ts:2: "${name}" ends in`))
    assert.match(problemOf('test/a.ts', `export class ${name} {}`) ?? '', /ends in a word that says nothing/)
  }
  for (const name of ['helper', 'utils', 'test-helpers', 'runManager', 'store-base', 'x-service', 'storeImpl']) {
    assert.match(problemOf(`scripts/${name}.ts`, '') ?? '', new RegExp(`^scripts/${name}.ts:1: "${name}" ends in`))
  }
  for (const name of ['database', 'services', 'utility', 'simple'])
    assert.equal(problemOf(`scripts/${name}.ts`, ''), undefined)
})

test('tidy() refuses work left for later and paths of one machine, in any file', () => {
  const [todo, fixme] = ['TO' + 'DO', 'FIX' + 'ME']
  for (const file of ['src/run/a.ts', 'scripts/a.sh', 'examples/a.mjs']) {
    assert.match(problemOf(file, `// ${todo}: later.`) ?? '', /:2: leaves work for later/)
    assert.match(problemOf(file, `// ${fixme} later.`) ?? '', /:2: leaves work for later/)
    for (const path of ['work/x', 'root/.ssh', 'home/ann']) {
      assert.match(problemOf(file, `const path = '/${path}'`) ?? '', /:2: names a path of one machine/)
    }
    assert.equal(problemOf(file, "const path = 'a/work/x' + '/workbench/x' + '/home/' + '/root'"), undefined)
  }
  assert.match(
    problemsOf({ 'README.md': `# A\n\nSee ${['', 'work', 'x'].join('/')}.\n` })[0] ?? '',
    /^README.md:3: names a path/,
  )
})

test('tidy() wants exactly one title in each document', () => {
  assert.deepEqual(problemsOf({ 'docs/a.md': 'Text.\n' }), ['docs/a.md:1: has 0 titles instead of one'])
  assert.deepEqual(problemsOf({ 'A.md': '# One\n\n# Two\n' }), ['A.md:3: has 2 titles instead of one'])
  const decision = (title: string) => problemsOf({ 'docs/decisions/0007-x.md': `${title}\n` })
  assert.deepEqual(decision('# 0007 · X'), [])
  for (const title of ['# X', '# 0008 · X', '# 7. X'])
    assert.deepEqual(decision(title), ['docs/decisions/0007-x.md:1: does not begin with "# 0007 · "'])
})

test('tidy() knows the folders of the design and their front doors', () => {
  assert.deepEqual(problemsOf({ 'src/extra/extra.ts': good }), ['src/extra:1: is no folder of the design'])
  assert.deepEqual(problemsOf({ 'src/record/store.ts': good }), ['src/record:1: has no front door'])
  const wrong = JSON.stringify({ imports: { '#run': './src/run/engine.ts' } })
  assert.match(problemsOf({ 'package.json': wrong })[0] ?? '', /^package.json:1: "#run" leads to/)
})

test('tidy() refuses a lock file that npm ci would refuse elsewhere', () => {
  const lockOf = (packages: object) => problemsOf({ 'package-lock.json': JSON.stringify({ packages }) })
  const cli = { optionalDependencies: { '@x/mac': '1' } }
  const mac = { resolved: 'https://registry.npmjs.org/@x/mac.tgz' }
  assert.deepEqual(
    lockOf({ '': { dependencies: { cli: '1' } }, 'node_modules/cli': cli, 'node_modules/@x/mac': mac }),
    [],
  )
  const lacking = 'package-lock.json:1: lacks @x/mac, which node_modules/cli wants: npm ci refuses it'
  assert.deepEqual(lockOf({ 'node_modules/cli': cli }), [lacking])
  const foreign = { resolved: 'https://npm.example.org/cli.tgz' }
  assert.deepEqual(lockOf({ 'node_modules/cli': foreign }), [
    'package-lock.json:1: takes node_modules/cli from a private host',
  ])
})

test('blank() hides strings, comments and patterns, and keeps code and positions', () => {
  const table: [string, string][] = [
    ["a('x') // y", "a(' ')     "],
    ['a /* b */ c', 'a         c'],
    ['`a${b + `c${{ d }}e`}f`', '` ${b + ` ${{ d }} `} `'],
    ["'it\\'s' + \"\\\\\" + x", '\'     \' + "  " + x'],
    ["x = /['/]\\//g; y = a / b / c", 'x = /      /g; y = a / b / c'],
    ["return /'/", 'return / /'],
    ["'unclosed\nnext", "'        \nnext"],
  ]
  for (const [source, expected] of table) assert.equal(blank(source), expected)
})
