/**
 * The pages on which a human answers: the open questions, and one of them with a form; whatever an
 * agent wrote stands there as text.
 */
import type { ServerResponse } from 'node:http'
import { type Html, html, sendHtml } from '#gateway/http'
import { type AppError, escapeInvisible, limits } from '#model'
import { type Approval, adviceLines, argumentsText, mayCallLines, originLines, type Question } from '#verbs'

/** What the line that was written with an answer will do. */
const ruleEffects: Record<string, string> = {
  allow: 'From now on the tool passes without a question, as the form said.',
  ask: 'The line that was written with it has no effect: the tool still asks, as the form said.',
  deny: 'The line that was written with it has no effect: a rule of the file denies the tool.',
}

export function sendApprovalList(
  response: ServerResponse,
  open: Approval[],
  answered: string | null,
  line: string | null,
): void {
  const effect = line === null ? '' : (Object.hasOwn(ruleEffects, line) && ruleEffects[line]) || ''
  const said =
    answered === 'approved' || answered === 'denied'
      ? html`<p role="status">Recorded: ${answered}. ${effect}</p>`
      : none
  const items = open.map(
    ({ id, tool, args }) =>
      html`<li><a href="/approvals/${id}">${escapeInvisible(tool)}</a> <code>${escapeInvisible(JSON.stringify(args)).slice(0, limits.previewCharactersMax)}</code></li>`,
  )
  const list = items.length === 0 ? html`<p>Nothing waits for an answer.</p>` : html`<ul>${items}</ul>`
  sendHtml(response, 'Open approvals', html`<h1>Open approvals</h1>${said}${list}`)
}

/** `mayAnswer` is whether the browser has the token of this start. */
export function sendApproval(response: ServerResponse, question: Question, mayAnswer: boolean): void {
  const { tool, effect, why, expiresAt, run, call, command, intent } = question
  const origins = originLines(question)
  const body = html`<h1>Allow <code>${escapeInvisible(tool)}</code>?</h1>
<dl>
${intent ? html`<dt>What the run is for, in the words of whoever started it</dt><dd>${escapeInvisible(intent)}</dd>` : none}
<dt>Asked because</dt><dd>${escapeInvisible(why)}</dd>
<dt>Effect</dt><dd>${effect ?? 'unknown'}</dd>
${origins.length === 0 ? none : html`<dt>Where the arguments came from</dt>${origins.map((line) => html`<dd>${line}</dd>`)}`}
${mayCallLines(question).map((line) => html`<dt>The plan of its run</dt><dd>${line}</dd>`)}
${adviceLines(question).map((line) => html`<dt>Effect unknown</dt><dd>${line}</dd>`)}
<dt>Run</dt><dd><a href="/api/runs/${run}">${run}</a>, call ${call}</dd>
<dt>Expires</dt><dd>${expiresAt}</dd>
</dl>
${mayAnswer ? answerForm(question) : html`${argumentsShown(question)}${tokenNeeded(question.id, command)}`}`
  sendHtml(response, `Allow ${escapeInvisible(tool)}?`, body)
}

/** What was wrong with an answer; the question may still be open. */
export function sendRefusal(response: ServerResponse, error: AppError, id: string, status: number): void {
  const back = html`<p><a href="/approvals/${id}">Back to the question</a> · <a href="/approvals">All open questions</a></p>`
  sendHtml(
    response,
    'Not recorded',
    html`<h1>Not recorded</h1><p class="warn">${escapeInvisible(error.message)}</p>${back}`,
    status,
  )
}

export function sendNotOpen(response: ServerResponse): void {
  const why = 'It was answered, it expired, or its run is over.'
  const body = html`<h1>This question is not open</h1><p>${why}</p><p><a href="/approvals">All open questions</a></p>`
  sendHtml(response, 'Not open', body, 404)
}

const none: Html = { html: '' }

function argumentsShown(question: Question): Html {
  const { text, isWhole } = argumentsText(question)
  const more = html`<p class="warn">These are the first ${limits.shownArgumentsCharactersMax} characters; <a href="/api/runs/${question.run}">the run</a> has all of them.</p>`
  return html`<h2>Arguments</h2><pre>${text}</pre>${isWhole ? none : more}`
}

/** Without script: what is edited is compared with what was shown. */
function answerForm(question: Question): Html {
  const { text, isWhole } = argumentsText(question)
  const rows = Math.min(20, text.split('\n').length + 1)
  const edit = html`<h2><label for="args">Arguments</label></h2>
<p>They are sent as they stand here; change them to let the call be made with others.</p>
<textarea id="args" name="args" rows="${rows}" spellcheck="false" autocomplete="off">${text}</textarea>
<input type="hidden" name="shown" value="${text}">`
  return html`<form method="post" action="/approvals/${question.id}">
${isWhole ? edit : argumentsShown(question)}
<fieldset><legend>If you allow it</legend>
<label><input type="radio" name="scope" value="once" checked> this once</label>
<label><input type="radio" name="scope" value="run"> this tool for the rest of the run${scopeEffect(question, 'run')}</label>
<label><input type="radio" name="scope" value="always"> this tool always (a line of policy)${scopeEffect(question, 'always')}</label>
</fieldset>
<label for="reason">A reason, which the agent reads if you refuse</label>
<input type="text" id="reason" name="reason" maxlength="500" autocomplete="off">
<button name="answer" value="denied">Deny</button>
<button name="answer" value="approved">Allow</button>
</form>`
}

/** What a line of that scope would do. */
function scopeEffect({ lines }: Question, scope: 'run' | 'always'): Html {
  return lines === undefined ? none : html`: <small>${lines[scope]}</small>`
}

/**
 * A browser that comes from another site does not send the cookie at first: a link of our own page
 * makes it.
 */
function tokenNeeded(id: string, command: string): Html {
  return html`<p class="warn">To answer here, open the link with the token that <code>metier serve</code> printed when it started, then
<a href="/approvals/${id}">come back to this page</a>. Or answer at a terminal:</p><pre>${command}</pre>`
}
