/** The form in which a host asks its human about a call, and what the human's answer means. */
import type { ElicitRequestFormParams, ElicitRequestURLParams } from '@modelcontextprotocol/server'
import { AppError, isObject, type Json, visible } from '#model'
import { argumentsText, type Decision, mayCallLines, originLines, type Question } from '#verbs'

/** What a client sends back; it is not trusted to keep to the form. */
export type Reply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, unknown> | undefined }

const choices = {
  once: 'Allow once',
  run: 'Allow this tool for the rest of the run',
  always: 'Always allow this tool',
  deny: 'Deny',
}

/** For a host that shows no forms, but opens addresses: the page where the question is answered. It holds no token, so whoever opens it must be known there. */
export function linkOf({ tool, effect, why, run, call, url, id }: Question): ElicitRequestURLParams {
  const message = [
    `Allow ${visible(tool)}? Its effect is ${effect ?? 'unknown'}. Open the page to see the arguments and to answer.`,
    `Asked because: ${visible(why)} (run ${run}, call ${call})`,
  ]
  return { mode: 'url', message: message.join('\n'), url: url!, elicitationId: id }
}

/** `problem` is what was wrong with the last answer to the same question. */
export function formOf(question: Question, problem: string | null): ElicitRequestFormParams {
  const { tool, effect, why, run, call, command, url, intent, lines } = question
  const { text, isWhole } = argumentsText(question)
  const origins = originLines(question)
  const message = [
    ...(problem === null ? [] : [`That could not be done: ${visible(problem)}`, '']),
    `Allow ${visible(tool)}? Its effect is ${effect ?? 'unknown'}.`,
    `Arguments: ${text}`,
    ...(isWhole ? [] : [`These are not all of them: metier run show ${run}`]),
    ...(origins.length === 0 ? [] : [`They came from: ${origins.join('; ')}`]),
    `Asked because: ${visible(why)} (run ${run}, call ${call})`,
    ...(intent ? [`The run is for: ${visible(intent)}`] : []),
    ...mayCallLines(question).map((line) => `Its plan ${line}`),
    ...(lines === undefined ? [] : [`For the rest of the run: ${lines.run}`, `Always: ${lines.always}`]),
    `Elsewhere: ${url === null ? command : `${url} or ${command}`}`,
  ]
  const decision = {
    type: 'string' as const,
    title: 'Decision',
    description: 'once, for the rest of the run, always, or deny',
    enum: Object.keys(choices),
    enumNames: Object.values(choices),
  }
  const args = {
    type: 'string' as const,
    title: 'Arguments',
    description: 'Change them to let the call be made with others (JSON).',
    default: text,
  }
  const reason = { type: 'string' as const, title: 'Reason', description: 'The agent reads it if you deny.' }
  return {
    mode: 'form',
    message: message.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: { decision, ...(isWhole ? { arguments: args } : {}), reason },
      required: ['decision'],
    },
  }
}

/** Null where nothing was decided: closed, or not what the form asks for. Edited arguments that are no JSON are an error. */
export function decisionOf(question: Question, { action, content }: Reply): Decision | null {
  if (action === 'decline') return { answer: 'denied' }
  if (action !== 'accept' || !isObject(content)) return null
  const { decision, arguments: args, reason } = content
  const said = typeof reason === 'string' && reason.trim() !== '' ? { reason: reason.trim() } : {}
  if (decision === 'deny') return { answer: 'denied', ...said }
  if (decision !== 'once' && decision !== 'run' && decision !== 'always') return null
  return { answer: 'approved', scope: decision, ...said, ...editedArguments(question, args) }
}

function editedArguments(question: Question, given: unknown): { args?: Json } {
  if (typeof given !== 'string' || given.trim() === '') return {}
  const args = parsed(given)
  return JSON.stringify(args) === JSON.stringify(question.args) ? {} : { args }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch (error) {
    const details = `they are not JSON (${(error as Error).message})`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot read the arguments: ${details}`, { param: 'args', details })
  }
}
