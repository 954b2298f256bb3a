/**
 * Writes the published form of the source: types stripped in place, and names that Node resolves
 * without our package.json.
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import about from '#package' with { type: 'json' }

const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
const imports: Record<string, string> = about.imports
const strings = /(['"])(\.{1,2}\/[^'"\n]*?\.ts|#[a-z]+(?:\/[a-z-]+)?)\1/g

/**
 * Node strips no types below node_modules, so what is published is JavaScript, line for line the
 * same.
 */
export function build(from: string, to: string): number {
  const files = globSync('**/*.ts', { cwd: from, exclude: (name) => name.endsWith('.test.ts') })
  rmSync(to, { recursive: true, force: true })
  for (const file of files) {
    const target = join(to, file.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, published(readFileSync(join(from, file), 'utf8'), file))
  }
  // Programs that are given away as they are, prompts and fitted models.
  const given = globSync('**/*.{mjs,py,txt,json}', { cwd: from })
  for (const file of given) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    writeFileSync(join(to, file), readFileSync(join(from, file)))
  }
  return files.length + given.length
}

function published(source: string, file: string): string {
  return stripTypeScriptTypes(source).replace(strings, (whole, quote: string, name: string) => {
    if (!name.startsWith('#')) return `${quote}${name.replace(/\.ts$/, '.js')}${quote}`
    const door = imports[name]
    if (door === undefined) return whole
    const path = relative(dirname(join('src', file)), door).replace(/\.ts$/, '.js')
    return `${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
  })
}

if (import.meta.main) console.log(`${build(join(root, 'src'), join(root, 'dist'))} files in dist/`)
