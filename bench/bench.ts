/**
 * Runs the benches that are named, or all, one after the other: `npm run bench -- record code`;
 * with `--against FOLDER`, by turns with those of another tree (against.ts).
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { against } from './against.ts'

const here = import.meta.dirname
const known = globSync('*.ts', { cwd: here })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'bench' && name !== 'against')
  .sort()
const { values, positionals: named } = parseArgs({
  options: { against: { type: 'string' }, rounds: { type: 'string' } },
  allowPositionals: true,
  strict: false,
})
const flags = process.argv.slice(2).filter((word) => word.startsWith('-'))
const unknown = named.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  process.exit(2)
}
if (typeof values.against === 'string') {
  process.exit(against(resolve(values.against), named, Number(values.rounds ?? 7)) ? 0 : 1)
}
for (const name of named.length > 0 ? named : known) {
  console.error(`\n${name}`)
  const { status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(here, `${name}.ts`), ...flags],
    { stdio: 'inherit' },
  )
  if (status !== 0) process.exitCode = 1
}
