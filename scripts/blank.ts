/**
 * TypeScript source without what is said in it: comments and the insides of strings become spaces,
 * every position stays.
 */

/** A slash after one of these begins a pattern, after anything else it divides. */
const beforePattern =
  /(?:^|[([{}=,;:!&|?+\-*%<>~^]|\b(?:return|typeof|case|in|of|delete|void|throw|new|await|yield|else))\s*$/

/** `keepComments` blanks strings and patterns alone. */
export function blank(source: string, keepComments = false): string {
  let out = ''
  let at = 0
  /** Of each open template, how many braces of its `${` are open; the innermost last. */
  const templates: number[] = []

  const keep = (length: number) => {
    out += source.slice(at, at + length)
    at += length
  }
  const hide = (end: number) => {
    out += source.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  const comment = (end: number) => {
    const to = end < 0 ? source.length : end
    if (keepComments) keep(to - at)
    else hide(to)
  }
  /** From inside a template to its end or to its next `${`. */
  const hideTemplate = () => {
    const end = endOf(source, at, (here) => source[here] === '`' || source.startsWith('${', here))
    hide(end)
    if (source[at] === '`') templates.pop()
    else templates[templates.length - 1] = 0
    keep(source[at] === '`' ? 1 : 2)
  }

  while (at < source.length) {
    const char = source[at]!
    if (source.startsWith('//', at)) comment(source.indexOf('\n', at))
    else if (source.startsWith('/*', at)) comment(indexAfter(source, '*/', at + 2))
    else if (char === "'" || char === '"') {
      keep(1)
      hide(endOf(source, at, (here) => source[here] === char || source[here] === '\n'))
      keep(1)
    } else if (char === '`') {
      keep(1)
      templates.push(0)
      hideTemplate()
    } else if (char === '/' && beforePattern.test(out.slice(-20))) {
      keep(1)
      hide(endOfPattern(source, at))
    } else {
      if (templates.length > 0 && char === '{') templates[templates.length - 1]! += 1
      if (templates.length > 0 && char === '}') {
        if (templates.at(-1) === 0) {
          keep(1)
          hideTemplate()
          continue
        }
        templates[templates.length - 1]! -= 1
      }
      keep(1)
    }
  }
  return out
}

/** The first position that `isEnd` accepts, stepping over what a backslash escapes. */
function endOf(source: string, from: number, isEnd: (at: number) => boolean): number {
  let at = from
  while (at < source.length && !isEnd(at)) at += source[at] === '\\' ? 2 : 1
  return Math.min(at, source.length)
}

function endOfPattern(source: string, from: number): number {
  let inClass = false
  return endOf(source, from, (at) => {
    if (source[at] === '[') inClass = true
    if (source[at] === ']') inClass = false
    return source[at] === '\n' || (source[at] === '/' && !inClass)
  })
}

function indexAfter(source: string, text: string, from: number): number {
  const found = source.indexOf(text, from)
  return found < 0 ? source.length : found + text.length
}
