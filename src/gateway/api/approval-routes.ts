/**
 * Approvals over HTTP: pages for a human with a browser, JSON for a program; an answer needs the
 * token of this start.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type StartToken, startTokenMissing, tokenIn } from '#gateway/auth'
import { type Handler, type Routes, readBody, readForm, sendError, sendJson, statusOf } from '#gateway/http'
import { AppError, isObject, type Json, toAppError } from '#model'
import { type Caller, readDecision, type Verbs } from '#verbs'
import { sendApproval, sendApprovalList, sendNotOpen, sendRefusal } from './approval-pages.ts'

const browser: Caller = { actor: { kind: 'http', name: 'browser' } }
const program: Caller = { actor: { kind: 'http', name: 'program' } }

/** Null where the path is none of ours. */
export function approvalRoutes(verbs: Verbs, token: StartToken, path: string): Routes | null {
  const [, api, , id] = /^(\/api)?\/approvals(\/([\w-]+))?$/.exec(path) ?? []
  if (path === '/api/approvals')
    return { GET: async (_, response) => sendJson(response, await verbs.withPlannedTools(verbs.approvals())) }
  if (path === '/approvals')
    return { GET: withTokenCookie(token, (request, response) => sendList(verbs, request, response)) }
  if (id === undefined) return null
  if (api !== undefined) return { POST: (request, response) => postJson(verbs, token, id, request, response) }
  const show: Handler = async ({ headers }, response) => {
    const [question] = await verbs.withPlannedTools(verbs.approvals().filter((open) => open.id === id))
    if (question === undefined) sendNotOpen(response)
    else sendApproval(response, question, token.isIn(headers))
  }
  return {
    GET: withTokenCookie(token, show),
    POST: (request, response) => postForm(verbs, token, id, request, response),
  }
}

/**
 * A link with the token becomes a cookie and a link without it, so that it stays in no history and
 * in no referrer.
 */
function withTokenCookie(token: StartToken, page: Handler): Handler {
  return (request, response) => {
    const given = tokenIn(request)
    if (given === null) return page(request, response)
    if (!token.is(given)) return sendError(response, startTokenMissing())
    response.writeHead(303, { location: request.url!.split('?')[0], 'set-cookie': token.cookie }).end()
  }
}

function sendList(verbs: Verbs, { url = '' }: IncomingMessage, response: ServerResponse): void {
  const { searchParams } = new URL(url, 'http://localhost')
  sendApprovalList(response, verbs.approvals(), searchParams.get('answered'), searchParams.get('line'))
}

async function postJson(
  verbs: Verbs,
  token: StartToken,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!token.mayChange(request.headers)) return sendError(response, startTokenMissing())
  if (!hasContentType(request, 'application/json')) return sendError(response, wrongType('application/json'), 415)
  const body = await readBody(request)
  if (!body.ok) return sendError(response, unreadable(body.message), body.status)
  const { resumed: _, ...answer } = await verbs.decide(id, readDecision(body.value), program, false)
  sendJson(response, answer)
}

async function postForm(
  verbs: Verbs,
  token: StartToken,
  id: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refuse = (error: AppError, status = statusOf(error)) => sendRefusal(response, error, id, status)
  if (!token.mayChange(request.headers)) return refuse(startTokenMissing())
  if (!hasContentType(request, 'application/x-www-form-urlencoded'))
    return refuse(wrongType('a form of this page'), 415)
  const form = await readForm(request)
  if (form === null) return refuse(unreadable('it is too long'), 413)
  try {
    const decision = readDecision(decisionIn(form))
    const { line } = await verbs.decide(id, decision, browser, false)
    const becomes = isObject(line) ? `&line=${line.then}` : ''
    response.writeHead(303, { location: `/approvals?answered=${decision.answer}${becomes}` }).end()
  } catch (error) {
    refuse(toAppError(error))
  }
}

function decisionIn(form: URLSearchParams): object {
  const answer = form.get('answer')
  const reason = form.get('reason')?.trim()
  const said = { answer, ...(reason ? { reason } : {}) }
  if (answer !== 'approved') return said
  const [args, shown] = [form.get('args'), form.get('shown')]
  const isEdited = args !== null && withoutReturns(args) !== withoutReturns(shown ?? '')
  return { ...said, scope: form.get('scope'), ...(isEdited ? { args: parseArguments(args) } : {}) }
}

/** A browser sends the lines of a text with carriage returns. */
const withoutReturns = (text: string) => text.replaceAll('\r', '').trim()

function parseArguments(text: string): Json {
  try {
    return JSON.parse(text)
  } catch (error) {
    const details = (error as Error).message
    const message = `Cannot read the edited arguments: they are not JSON (${details})`
    throw new AppError('INVALID_INPUT_PARAM', message, { param: 'args', details })
  }
}

const hasContentType = ({ headers }: IncomingMessage, type: string) =>
  headers['content-type']?.split(';')[0]?.trim() === type

function wrongType(wanted: string): AppError {
  const details = `it is not ${wanted}`
  return new AppError('INVALID_INPUT_PARAM', `Cannot read the request: ${details}`, { param: 'content-type', details })
}

function unreadable(details: string): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot read the request: ${details}`, { param: 'body', details })
}
