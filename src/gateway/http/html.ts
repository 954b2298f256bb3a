/**
 * Pages without script: text is escaped as it is put in, and the policy lets nothing run or load
 * but our own style.
 */
import type { ServerResponse } from 'node:http'
import { sha256Bytes } from '#model'

/** Text that is HTML already. */
export type Html = { readonly html: string }

/**
 * What stands in a page is text, unless it is HTML that we made; lists are put one after the other.
 */
export function html(parts: TemplateStringsArray, ...values: (string | number | Html | readonly Html[])[]): Html {
  const texts = values.map((value) => {
    if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
    return 'html' in value ? value.html : value.map((each) => each.html).join('')
  })
  return { html: String.raw({ raw: parts }, ...texts) }
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

const style = `:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}
pre,textarea{font:.9rem/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;border-radius:.3rem;padding:.6rem}
textarea,input[type=text]{box-sizing:border-box;width:100%}textarea{field-sizing:content}
dt{font-weight:600}dd{margin:0 0 .6rem;overflow-wrap:anywhere}
fieldset{border:0;padding:0;margin:.8rem 0}label{display:block}
button{font:inherit;padding:.5rem 1.4rem;margin:.8rem .8rem 0 0}
.warn{border-left:.3rem solid;padding-left:.8rem}`

const styleHash = sha256Bytes(style).toString('base64')
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

/**
 * With `no-referrer` a browser would hide where a form comes from, and we could not tell our own
 * pages from foreign ones.
 */
export function sendHtml(response: ServerResponse, title: string, body: Html, status = 200): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    'referrer-policy': 'same-origin',
  })
  response.end(
    html`${{ html: '<!doctype html>' }}
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Métier</title>
<style>${{ html: style }}</style>
${body}
</html>
`.html,
  )
}
