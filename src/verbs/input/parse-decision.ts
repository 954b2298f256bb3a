/**
 * What a human decides about a question, as it is handed to us from a form, a page or a program.
 */
import { AppError, type ContextOf, type ErrorCode, type Json, limits } from '#model'
import { objectOf, oneOf, optional, textOf } from './input-fields.ts'

const scopes = ['once', 'run', 'always'] as const

/**
 * `args` take the place of the program's; `scope` turns a yes into a line of policy for the tool:
 * for the rest of the run, or for good.
 */
export type Decision = {
  answer: 'approved' | 'denied'
  args?: Json
  reason?: string
  scope?: (typeof scopes)[number]
  /**
   * What the line of policy is about, where that is not the tool alone: every tool of its server,
   * as `server:*`.
   */
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

/** Why an answer does not hold: by the arguments it gives, or since the question is not open. */
export class DecisionError<Code extends ErrorCode = ErrorCode> extends AppError<Code> {
  readonly about: 'arguments' | 'question'

  constructor(about: DecisionError['about'], code: Code, message: string, context: ContextOf<Code>, cause?: unknown) {
    super(code, message, context, cause)
    this.about = about
  }
}

/** What an error of decide() is about, also where it was told again as one about its run. */
export function decisionFault(thrown: unknown): DecisionError['about'] | null {
  if (thrown instanceof DecisionError) return thrown.about
  return thrown instanceof Error && thrown.cause !== undefined ? decisionFault(thrown.cause) : null
}
