/** The form in which a host asks its human about a call, and what the human's answer means. */
import type { ElicitRequestFormParams, ElicitRequestURLParams } from '@modelcontextprotocol/server'
import { escapeInvisible, isObject, limits } from '#model'
import { adviceLines, argumentsLine, type Decision, mayCallLines, originLine, type Question } from '#verbs'
import { parseEditedArguments } from './edited-arguments.ts'

/** What a client sends back; it is not trusted to keep to the form. */
export type Reply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, unknown> | undefined }

const choices = {
  once: 'Allow once',
  run: 'Allow this tool for the rest of this run',
  always: 'Always allow this tool',
  deny: 'Deny',
  change: 'Change the arguments ...',
}

/**
 * For a host that shows no forms, but opens addresses: the page where the question is answered. It
 * holds no token, so the browser must be logged in there.
 */
export function linkOf({ tool, effect, why, run, call, url, id }: Question): ElicitRequestURLParams {
  const message = [
    `Allow ${escapeInvisible(tool)}? Its effect is ${effect ?? 'unknown'}. Open the page to see the arguments and to answer.`,
    `Asked because: ${escapeInvisible(why)} (run ${run}, call ${call})`,
  ]
  return { mode: 'url', message: message.join('\n'), url: url!, elicitationId: id }
}

/**
 * Which of the two forms is shown: the choice, or the arguments of a call that is to be changed.
 */
export type FormKind = 'choice' | 'arguments'

/** `problem` is what was wrong with the last answer to the same question. */
export function formOf(question: Question, kind: FormKind, problem: string | null): ElicitRequestFormParams {
  return kind === 'choice' ? choiceForm(question) : argumentsForm(question, problem)
}

/**
 * One required choice, because hosts ask field by field (Codex) or list every field (Claude Code).
 * Claude Code shows only the first three lines of the message, each cut at the width of the screen:
 * they are why, where from and with what.
 */
function choiceForm(question: Question): ElicitRequestFormParams {
  const { tool, why, run, call, command, url, intent, lines } = question
  const { text, isWhole } = argumentsLine(question)
  const purpose = intent ? `The run is for: ${oneLine(intent)}` : null
  // The description of the field is one more line that Claude Code shows.
  const description = isCut(text) && isWhole ? cutHint : purpose
  const message = [
    `Allow ${escapeInvisible(tool)}? ${oneLine(why)}`,
    originLine(question),
    `Arguments: ${text}`,
    ...(isWhole ? [] : [`These are not all of them: metier run show ${run}`]),
    ...mayCallLines(question).map((line) => `Its plan ${line}`),
    ...adviceLines(question),
    ...(description === purpose || purpose === null ? [] : [purpose]),
    ...(lines === undefined ? [] : [`For the rest of the run: ${lines.run}`, `Always: ${lines.always}`]),
    `Run ${run}, call ${call}. Elsewhere: ${url === null ? command : `${url} or ${command}`}`,
  ]
  const offered = Object.entries(choices).filter(([choice]) => isWhole || choice !== 'change')
  const decision = {
    type: 'string' as const,
    title: `Allow ${escapeInvisible(tool)}`,
    ...(description === null ? {} : { description }),
    enum: offered.map(([choice]) => choice),
    enumNames: offered.map(([, label]) => label),
  }
  return formParams(message, { decision })
}

/**
 * Claude Code cuts the line at the width of the screen: a person who sees only a part must know how
 * to see all before saying yes.
 */
const isCut = (text: string) => text.length > limits.formLineCharactersMax
const cutHint = 'Cut off? "Change the arguments" shows all and allows nothing yet.'

/**
 * Accepting it is a yes, this once, to what stands in it. On one line: hosts have one line for a
 * text.
 */
function argumentsForm(question: Question, problem: string | null): ElicitRequestFormParams {
  const { tool, url, command } = question
  const { text } = argumentsLine(question)
  const args = {
    type: 'string' as const,
    title: 'Arguments',
    description: 'JSON, on one line. Accepting allows the call once, with what stands here.',
    default: text,
  }
  const elsewhere = url === null ? command : `${url} or ${command}`
  const message = [
    problem === null
      ? `Change the arguments of ${escapeInvisible(tool)}`
      : `That could not be done: ${oneLine(problem)}`,
    // Codex shows no default: a human who types them again must see them.
    `Arguments now: ${text}`,
    `Elsewhere: ${elsewhere}`,
  ]
  return formParams(message, { arguments: args })
}

function formParams(
  message: string[],
  properties: ElicitRequestFormParams['requestedSchema']['properties'],
): ElicitRequestFormParams {
  const requestedSchema = { type: 'object' as const, properties, required: Object.keys(properties) }
  return { mode: 'form', message: message.join('\n'), requestedSchema }
}

/** What a reply means. Edited arguments that cannot be read are an error. */
type FormAnswer = { kind: 'decided'; decision: Decision } | { kind: 'change' } | { kind: 'nothing' }

export function parseReply(question: Question, kind: FormKind, { action, content }: Reply): FormAnswer {
  if (action === 'decline') return { kind: 'decided', decision: { answer: 'denied' } }
  if (action !== 'accept' || !isObject(content)) return { kind: 'nothing' }
  if (kind === 'arguments') return parseEdited(question, content.arguments)
  const { decision } = content
  if (decision === 'change') return { kind: 'change' }
  if (decision === 'deny') return { kind: 'decided', decision: { answer: 'denied' } }
  if (decision !== 'once' && decision !== 'run' && decision !== 'always') return { kind: 'nothing' }
  return { kind: 'decided', decision: { answer: 'approved', scope: decision } }
}

function parseEdited(question: Question, given: unknown): FormAnswer {
  if (typeof given !== 'string' || given.trim() === '') return { kind: 'nothing' }
  const edited = parseEditedArguments(question.args, argumentsLine(question).text, given)
  return { kind: 'decided', decision: { answer: 'approved', scope: 'once', ...edited } }
}

const oneLine = (text: string) => escapeInvisible(text.replaceAll(/\s+/g, ' ').trim())
