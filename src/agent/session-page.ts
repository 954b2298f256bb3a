/** A session as a page that a person can open without anything of ours. */
import type { SessionView } from './session-view.ts'

const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => signs[sign]!)

const style =
  'body{font:16px/1.5 system-ui;max-width:50em;margin:2em auto;padding:0 1em}pre{white-space:pre-wrap;background:#f4f4f4;padding:1em}.final pre{background:#e6f4e6}code{font-size:.9em}'

export function sessionPage({ session, plan, status, startedAt, endedAt, said, files, tokens }: SessionView): string {
  const steps = said.map(
    ({ at, step, role, text }) =>
      `<section class="${role}"><h2>${step === 0 ? 'Goal' : `Step ${step}`}: ${role}</h2><p>${at}</p><pre>${escaped(text)}</pre></section>`,
  )
  const rows = files.map(
    ({ path, bytes, sha256, step }) =>
      `<li><code>${escaped(path)}</code>, ${bytes} bytes, step ${step}, SHA-256 ${sha256}</li>`,
  )
  return [
    `<!doctype html><meta charset="utf-8"><title>${escaped(plan.goal)}</title><style>${style}</style>`,
    `<h1>${escaped(plan.goal)}</h1>`,
    `<p>Session ${session}: ${status}, ${plan.protocol}, ${escaped(plan.model)}, from ${startedAt} to ${endedAt ?? 'now'}, ${tokens.input} tokens read and ${tokens.output} written.</p>`,
    ...steps,
    `<h2>Files</h2><ul>${rows.join('')}</ul>`,
    '',
  ].join('\n')
}
