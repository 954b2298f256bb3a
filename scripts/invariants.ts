/**
 * Checks docs/invariants.md: numbered without a gap, and each invariant shown by a test that exists
 * under that name.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = 'docs/invariants.md'

/**
 * Everything that is wrong with the page under `root`, one line each. A cell that begins with
 * "planned" is believed.
 */
export function checkInvariants(root: string): string[] {
  const problems: string[] = []
  let count = 0
  for (const [index, line] of readFileSync(join(root, page), 'utf8').split('\n').entries()) {
    const [, number, , shown] = /^\| *(\d+) *\|(.*)\|([^|]*)\|$/.exec(line) ?? []
    if (number === undefined) continue
    count += 1
    const say = (problem: string) => problems.push(`${page}:${index + 1}: invariant ${number} ${problem}`)
    if (Number(number) !== count) say(`stands where ${count} should`)
    for (const problem of problemsOf(shown!.trim(), root)) say(problem)
  }
  return count > 0 ? problems : [`${page}:1: there is no invariant`]
}

/** `path`, or `path` with names of tests in quotes after it; several are divided by semicolons. */
function problemsOf(shown: string, root: string): string[] {
  if (/^planned\b/i.test(shown)) return []
  return shown.split(';').flatMap((each) => {
    const path = /`([^`]+)`/.exec(each)?.[1]
    if (path === undefined) return ['names no test']
    if (!existsSync(join(root, path))) return [`names ${path}, which does not exist`]
    const text = readFileSync(join(root, path), 'utf8').replaceAll('\\', '')
    const names = [...each.matchAll(/"([^"]+)"/g)].map((match) => match[1]!)
    return names
      .filter((name) => !text.includes(name))
      .map((name) => `names a test that ${path} does not have: ${name}`)
  })
}
