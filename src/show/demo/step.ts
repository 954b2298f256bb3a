/** What the steps of the tour share: a title with lines, and how their runs must end. */
import { AppError } from '#model'
import { faint, strong } from '#show/cli'
import type { ExecuteAnswer } from '#verbs'

export type Show = (title: string, ...lines: string[]) => void

export function showing(say: (text: string) => void): Show {
  return (title, ...lines) => say([`\n${strong(title)}`, ...lines.map((line) => `  ${line}`)].join('\n'))
}

export function program(code: string): string[] {
  return code
    .trim()
    .split('\n')
    .map((line) => faint(line))
}

export function must(answer: ExecuteAnswer, status: string): ExecuteAnswer {
  if (answer.status === status) return answer
  const message = `Cannot go on with the tour: a run is ${answer.status}, not ${status}`
  throw new AppError('TOOL_INTERNAL_ERROR', message, { answer })
}
