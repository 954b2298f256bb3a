/** What a human decides about a question, as it is handed to us from a form, a page or a program. */
import { type Json, limits } from '#model'
import { objectOf, oneOf, optional, textOf } from './input.ts'

const scopes = ['once', 'run', 'always'] as const

/** `args` take the place of the program's; `scope` turns a yes into a line of policy for the tool: for the rest of the run, or for good. */
export type Decision = {
  answer: 'approved' | 'denied'
  args?: Json
  reason?: string
  scope?: (typeof scopes)[number]
  /** What the line of policy is about, where that is not the tool alone: every tool of its server, as `server:*`. */
  covers?: string
}

export function readDecision(input: unknown): Decision {
  const { answer, args, reason, scope, covers } = objectOf('decision', input)
  const said = optional(reason, (value) => textOf('reason', value, limits.reasonBytesMax), undefined)
  const reach = optional(scope, (value) => oneOf('scope', value, scopes), undefined)
  const pattern = optional(covers, (value) => textOf('covers', value, limits.reasonBytesMax), undefined)
  return {
    answer: oneOf('answer', answer, ['approved', 'denied']),
    ...(args === undefined ? {} : { args }),
    ...(said === undefined ? {} : { reason: said }),
    ...(reach === undefined ? {} : { scope: reach }),
    ...(pattern === undefined ? {} : { covers: pattern }),
  }
}
