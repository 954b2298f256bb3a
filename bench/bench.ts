/** Runs the benches that are named, or all, one after the other: `npm run bench -- record code`. */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'

const here = import.meta.dirname
const known = globSync('*.ts', { cwd: here })
  .map((file) => basename(file, '.ts'))
  .filter((name) => name !== 'bench')
  .sort()
const flags = process.argv.slice(2).filter((word) => word.startsWith('-'))
const named = process.argv.slice(2).filter((word) => !word.startsWith('-'))
const unknown = named.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(', ')}; there are: ${known.join(', ')}`)
  process.exit(2)
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
