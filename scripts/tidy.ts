/**
 * The house style as a test: `node scripts/tidy.ts` names every breach of it, one line each, and
 * fails.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkCode, longFunctions } from './tidy-code.ts'
import { checkImports, doorFile, folders, type Problem, type Source } from './tidy-imports.ts'
import { checkLength, checkMarkdown, checkText, checkTypeScript, longFiles } from './tidy-text.ts'

const written = ['src', 'scripts', 'test', 'bench', 'examples', 'docs', 'bin', '.ci']

/** What may be longer than the rules allow, with the lines it has now. */
type Exempt = { files: Record<string, number>; functions: Record<string, number> }

/** Every breach of the house style in the tree under `root`, in the order of files and lines. */
export function tidy(root: string, exempt: Exempt = { files: {}, functions: {} }): Problem[] {
  const all = sources(root)
  const typescript = all.filter(({ file }) => file.endsWith('.ts'))
  const problems = [
    ...all.flatMap(checkText),
    ...all.filter(({ file }) => file.endsWith('.md')).flatMap(checkMarkdown),
    ...typescript.flatMap(checkTypeScript),
    ...typescript.flatMap((source) => checkLength(source, exempt.files)),
    ...checkImports(typescript, packagesOf(root)),
    ...checkFolders(typescript, root),
    ...checkExempt(root, exempt.files),
    ...checkCode(typescript, exempt.functions),
    ...checkLock(root),
  ]
  return problems.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line)
}

function sources(root: string): Source[] {
  const patterns = [...written.map((folder) => `${folder}/**/*`), '*.{md,json,sh}']
  const files = globSync(patterns, {
    cwd: root,
    withFileTypes: true,
    exclude: (entry) => entry.name === 'node_modules',
  })
    .filter((entry) => entry.isFile() && entry.name !== 'package-lock.json')
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  return files
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
    .filter(({ text }) => !text.includes('\0'))
}

function packagesOf(root: string): { runtime: Set<string>; all: Set<string> } {
  const { dependencies = {}, devDependencies = {}, peerDependencies = {} } = manifest(root)
  const runtime = Object.keys({ ...dependencies, ...peerDependencies })
  return { runtime: new Set(runtime), all: new Set([...runtime, ...Object.keys(devDependencies)]) }
}

type Manifest = {
  imports?: Record<string, string>
  dependencies?: object
  devDependencies?: object
  peerDependencies?: object
}

function manifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
}

/**
 * Folders of src/ that the design lacks or that have no front door, and doors that lead elsewhere.
 */
function checkFolders(typescript: Source[], root: string): Problem[] {
  const problems: Problem[] = []
  const used = new Set(
    typescript.map(({ file }) => /^src\/([^/]+)\//.exec(file)?.[1]).filter((name) => name !== undefined),
  )
  for (const folder of used) {
    const file = `src/${folder}`
    if (!folders.includes(folder as never)) problems.push({ file, line: 1, problem: 'is no folder of the design' })
    else if (!existsSync(join(root, file, `${folder}.ts`)))
      problems.push({ file, line: 1, problem: 'has no front door' })
  }
  for (const [door, target] of Object.entries(manifest(root).imports ?? {})) {
    if (target === `./${doorFile(door.slice(1))}`) continue
    problems.push({ file: 'package.json', line: 1, problem: `"${door}" leads to ${target} instead of a front door` })
  }
  return problems
}

function checkExempt(root: string, exempt: Record<string, number>): Problem[] {
  const gone = Object.keys(exempt).filter((file) => !existsSync(join(root, file)))
  return gone.map((file) => ({ file, line: 1, problem: 'is exempt from the length limit and gone' }))
}

type Locked = { resolved?: string; dependencies?: object; optionalDependencies?: object }

/**
 * What `npm ci` would refuse elsewhere: a lock file made where not every platform's packages could
 * be had, or by a private registry.
 */
function checkLock(root: string): Problem[] {
  const file = 'package-lock.json'
  if (!existsSync(join(root, file))) return []
  const { packages } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { packages: Record<string, Locked> }
  const locked = new Set(Object.keys(packages).map((path) => path.slice(path.lastIndexOf('node_modules/') + 13)))
  return Object.entries(packages).flatMap(([path, { resolved, dependencies, optionalDependencies }]) => {
    const missing = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !locked.has(name))
    const problems = missing.map((name) => `lacks ${name}, which ${path || 'package.json'} wants: npm ci refuses it`)
    if (resolved && !resolved.startsWith('https://registry.npmjs.org/'))
      problems.push(`takes ${path} from a private host`)
    return problems.map((problem) => ({ file, line: 1, problem }))
  })
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname)
  const problems = tidy(root, { files: longFiles, functions: longFunctions })
  for (const { file, line, problem } of problems) console.log(`${file}:${line}: ${problem}`)
  const lengths = sources(root)
    .filter(({ file }) => /^src\/.*(?<!\.test)\.ts$/.test(file))
    .map(({ file, text }) => ({ file, lines: text.split('\n').length - 1 }))
    .sort((a, b) => a.lines - b.lines)
  const longest = lengths.at(-1)
  console.log(
    `tidy: ${problems.length} problems; ${lengths.length} files in src, median ${lengths[lengths.length >> 1]?.lines} lines, longest ${longest?.file} with ${longest?.lines}`,
  )
  process.exitCode = problems.length > 0 ? 1 : 0
}
