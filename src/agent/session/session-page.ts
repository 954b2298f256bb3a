/**
 * A session as a page that a person can open without anything of ours: the result first, then what
 * was said and done step by step, each whole behind a line that says what it is.
 */
import { readRebound, readToolCode } from '#agent/protocol'
import type { SessionView } from './session-view.ts'

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => signs[sign]!)

const style = `
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:52em;margin:2em auto;padding:0 1em}
h1{font-size:1.5em}h2{font-size:1.1em;margin:2em 0 .5em;border-top:1px solid #8886;padding-top:1em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#8881;padding:.8em;border-radius:6px;margin:.4em 0}
.final{background:#2a82;padding:.1em 1em .6em;border-radius:6px}.failed{background:#c332}
.facts,time{color:#888;font-size:.9em}summary{cursor:pointer}details{margin:.3em 0}
table{border-collapse:collapse;font-size:.9em;width:100%}td,th{text-align:left;padding:.2em .8em .2em 0;overflow-wrap:anywhere}`

export function sessionPage(view: SessionView): string {
  const { plan, said } = view
  const last = said.findLast(({ role }) => role === 'final')
  const ended = last === undefined ? '' : finalPart(view, last.text)
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${escaped(plan.goal)}</title><style>${style}</style>`,
    `<h1>${escaped(plan.goal)}</h1>`,
    factsPart(view),
    ended,
    ...said.map((one, index) => utterancePart(view, one, said[index - 1]?.step)),
    filesPart(view),
    '<h2>Is it true?</h2><p>Beside this page lie the exact lines of the record: <code>node verify.mjs .</code> checks them.</p>',
    '</html>',
    '',
  ].join('\n')
}

type Utterance = SessionView['said'][number]

function factsPart({ session, plan, status, startedAt, endedAt, steps, tokens, cost }: SessionView): string {
  const facts = [
    `session <code>${session}</code>`,
    `${status}, ${steps} ${steps === 1 ? 'step' : 'steps'}`,
    `protocol ${plan.protocol}`,
    `model ${escaped(plan.model)}`,
    `${startedAt} to ${endedAt ?? 'now'}`,
    `${tokens.input} tokens read, ${tokens.output} written${cost === null ? '' : `, ${cost.toFixed(4)} USD`}`,
  ]
  return `<p class="facts">${facts.join(' · ')}</p>`
}

function finalPart({ status }: SessionView, text: string): string {
  const isDone = status === 'done'
  const title = `<p><b>${isDone ? 'Final result' : 'No result'}</b></p>`
  return `<div class="final${isDone ? '' : ' failed'}">${title}<pre>${escaped(text)}</pre></div>`
}

function utterancePart(view: SessionView, one: Utterance, before: number | undefined): string {
  if (one.role === 'user' || one.role === 'final') return ''
  const heading = one.step === before ? '' : `<h2>Step ${one.step}</h2>`
  const at = `<time>${one.at.slice(11, 19)}</time>`
  if (one.role === 'assistant') return `${heading}<p>${at} the model</p>${answerPart(view, one)}`
  const isShort = /^wrote \S+ [0-9a-f]{64}$/.test(one.text)
  return `${heading}<p>${at} ${escaped(one.does)}</p>${isShort ? '' : folded('all of it', one.text)}`
}

/** What it thinks and wants done, in the order in which that happens; then the answer as it was. */
function answerPart({ plan }: SessionView, { text, does, payload_ref }: Utterance): string {
  const reading = plan.protocol === 'rebound' ? readRebound(text) : readToolCode(text)
  const refs = Object.entries(payload_ref ?? {}).map(
    ([what, { n, member, sha256 }]) => `the raw ${what}: "${member}" of event ${n}, ${sha256}`,
  )
  const whole = folded('the answer as it came', [text, ...refs].join('\n\n'))
  if (reading.kind === 'mistake') return `<p>${escaped(does)}</p>${whole}`
  const thought = reading.thought === '' ? '' : `<p>${escaped(reading.thought)}</p>`
  const drafts = 'drafts' in reading ? reading.drafts : []
  const files = drafts.map(({ path, content }) => folded(`writes ${path}`, content))
  const script = reading.kind === 'tool' ? folded('runs a script', reading.code) : ''
  const isScript = reading.kind === 'script'
  const target = isScript ? `<p>runs <code>${escaped(reading.target)}</code>, then: ${escaped(reading.prompt)}</p>` : ''
  return [thought, ...files, script, target, whole].join('')
}

function folded(title: string, text: string): string {
  return `<details><summary>${escaped(title)}</summary><pre>${escaped(text)}</pre></details>`
}

function filesPart({ files, outputs }: SessionView): string {
  const rows = [
    ...files.map((file) => ({ ...file, is: 'file' })),
    ...outputs.map((output) => ({ ...output, is: 'output' })),
  ]
  if (rows.length === 0) return ''
  const cells = rows.map(
    ({ is, path, bytes, step, sha256 }) =>
      `<tr><td><code>${escaped(path)}</code><td>${is}<td>${step}<td>${bytes}<td><code title="${sha256}">${sha256.slice(0, 16)}…</code>`,
  )
  return `<h2>Files</h2><table><tr><th>path<th>is<th>step<th>bytes<th>SHA-256${cells.join('')}</table>`
}
