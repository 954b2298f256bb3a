/** The forms in which a known secret may turn up: as it is, inside JSON text, percent-encoded, and in base64 at any alignment. */

/** Longest first, so that a form is not cut short by one that it begins with. */
export function secretForms(secret: string): string[] {
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), ...percentForms(secret), ...base64Forms(secret)])
  return [...forms].sort((a, b) => b.length - a.length)
}

function percentForms(secret: string): string[] {
  const strict = [...Buffer.from(secret)].map((byte) => percentByte(byte)).join('')
  const component = encodeURIComponent(secret.toWellFormed())
  return [strict, component, component.replaceAll('%20', '+')].flatMap((form) => [form, lowerEscapes(form)])
}

/** RFC 3986 leaves these alone; encodeURIComponent leaves some more. */
function percentByte(byte: number): string {
  const character = String.fromCharCode(byte)
  return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

function lowerEscapes(form: string): string {
  return form.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase())
}

/** Whole, and for each alignment within longer data the characters that depend on the secret alone. */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const cores = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  const standard = [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), ...cores]
  return standard.flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')])
}
