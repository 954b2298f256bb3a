/**
 * The rules about how a file reads: its first sentence, its length, its names, and what must not be
 * left in it.
 */
import { basename } from 'node:path'
import { blank } from './blank.ts'
import { isShipped, lineAt, type Problem, type Source } from './tidy-imports.ts'

const linesMax = 300

/**
 * Files that may be longer, with the lines they have now. The list only shrinks: a shorter file
 * lowers its number.
 */
export const longFiles: Record<string, number> = {
  'src/model/limits/limits.ts': 365,
  'src/run/structure/walk-program.ts': 303,
}

/** The start of the product, and the self-test of a box, which looks for what leaked into it. */
const environmentReaders = ['src/main.ts', 'src/sandbox/inside/probe.ts']

const emptyWords = 'Manager|Service|Helper|Util|Base|Impl'
const emptySuffix = new RegExp(`^\\w*(?:${emptyWords})s?$`)
const emptyFile = new RegExp(
  `^(?:.*[-_.a-z](?:${emptyWords})|(?:.*[-_.])?(?:manager|helper|util|impl)|.+[-_.](?:service|base))s?$`,
)
const declaration = /\b(?:const|let|var|function\*?|class|type|interface)\s+([A-Za-z_$][\w$]*)/g

/** Each with what is wrong about it; written so that no pattern finds itself. */
const leftovers: [RegExp, string][] = [
  [/\b(?:TO[D]O|FIX[M]E|X[X]X)\b/g, 'leaves work for later: do it or take it out'],
  [/(?<![\w.$}-])\/(?:work|root|farm)\/[\w.]/g, 'names a path of one machine'],
  [/(?<![\w.$}-])\/home\/[a-z]/g, 'names a path of one machine'],
]

export function checkText({ file, text }: Source): Problem[] {
  const said = file.endsWith('.md') ? withoutBlocks(text) : text
  return leftovers.flatMap(([pattern, problem]) =>
    [...said.matchAll(pattern)].map((match) => ({ file, line: lineAt(text, match.index), problem })),
  )
}

/** Prose with its blocks of code made empty; lines stay where they are. */
function withoutBlocks(markdown: string): string {
  return markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ' '))
}

export function checkMarkdown({ file, text }: Source): Problem[] {
  const prose = withoutBlocks(text)
  const titles = [...prose.matchAll(/^# .*/gm)]
  const decision = /^docs\/decisions\/(\d{4})-/.exec(file)?.[1]
  if (titles.length === 1) {
    if (decision === undefined || titles[0]![0].startsWith(`# ${decision} · `)) return []
    return [{ file, line: 1, problem: `does not begin with "# ${decision} · "` }]
  }
  const line = titles.length === 0 ? 1 : lineAt(prose, titles[1]!.index)
  return [{ file, line, problem: `has ${titles.length} titles instead of one` }]
}

export function checkTypeScript(source: Source): Problem[] {
  return [checkOpening, checkNames, checkEnvironment, checkPlaces].flatMap((check) => check(source))
}

function checkOpening({ file, text }: Source): Problem[] {
  const start = text.replace(/^#!.*\n/, '')
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(start)?.[1] ?? /^(?:\/\/.*\n?)+/.exec(start)?.[0] ?? ''
  const sentence = comment.replace(/^\s*(?:\*|\/\/)/gm, '').trim()
  if (/^(?:biome-ignore|@ts-)/.test(sentence) || !/\w.*[.!?]$/s.test(sentence)) {
    return [{ file, line: 1, problem: 'does not open with a sentence that says what it is for' }]
  }
  return []
}

function checkNames({ file, text }: Source): Problem[] {
  const problems: Problem[] = []
  const problem = (name: string) => `"${name}" ends in a word that says nothing (${emptyWords.replaceAll('|', ', ')})`
  const name = basename(file).replace(/(?:\.test)?\.ts$/, '')
  if (emptyFile.test(name)) problems.push({ file, line: 1, problem: problem(name) })
  for (const match of blank(text).matchAll(declaration)) {
    if (emptySuffix.test(match[1]!))
      problems.push({ file, line: lineAt(text, match.index), problem: problem(match[1]!) })
  }
  return problems
}

function checkEnvironment({ file, text }: Source): Problem[] {
  if (!isShipped(file) || environmentReaders.includes(file)) return []
  const code = blank(text)
  const reads = [...code.matchAll(/\bprocess\s*\??\.\s*env\b|\bimport\s*\{[^}]*\benv\b[^}]*\}\s*from/g)]
  return reads.map((match) => ({
    file,
    line: lineAt(text, match.index),
    problem: 'reads the environment: only src/main.ts may',
  }))
}

/** What an import may not do, a path beside `import.meta` may not either. */
function checkPlaces({ file, text }: Source): Problem[] {
  const lines = text.split('\n')
  return blank(text)
    .split('\n')
    .flatMap((code, index) =>
      code.includes('import.meta') && /['"`]\.\.(?:\/|['"`])/.test(lines[index]!)
        ? [{ file, line: index + 1, problem: 'climbs out of its folder' }]
        : [],
    )
}

export function checkLength({ file, text }: Source, exempt: Record<string, number>): Problem[] {
  const lines = text.split('\n').length - 1
  const allowed = exempt[file]
  if (!isShipped(file)) return []
  if (allowed === undefined) {
    return lines <= linesMax ? [] : [{ file, line: linesMax + 1, problem: `has ${lines} lines: is it one idea?` }]
  }
  if (lines === allowed && lines > linesMax) return []
  const now = lines > allowed ? `grew from ${allowed} to ${lines} lines` : `has only ${lines} lines left`
  return [{ file, line: 1, problem: `is exempt from the length limit and ${now}: shorten it, or lower the exemption` }]
}
