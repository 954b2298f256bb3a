/**
 * The forms in which a known secret may stand in a text: as it is, inside JSON text, and
 * percent-encoded. What is encoded as a whole (base64, hexadecimal, UTF-16) is decoded first; there
 * a character stands for a byte.
 */
import { limits } from '#model'

/**
 * A longer secret is looked for piece by piece: a regular expression has its limits, and a part of
 * a secret is one too.
 */
const pieceCharacters = 256

/** Regular expressions that find the secret in each of its forms. */
export function secretExpressions(secret: string): RegExp[] {
  return pieces([...secret]).flatMap((piece) =>
    readings(piece.join('')).map(
      (text) => new RegExp([...text].map((each, at) => characterSource(each, at === 0)).join(''), 'g'),
    ),
  )
}

function pieces(characters: string[]): string[][] {
  const count = Math.max(1, Math.floor((characters.length - limits.secretBytesMin) / pieceCharacters) + 1)
  return Array.from({ length: count }, (_, i) =>
    characters.slice(i * pieceCharacters, i + 1 < count ? (i + 1) * pieceCharacters : undefined),
  )
}

/**
 * Itself, and its bytes in UTF-8 and UTF-16 (without NULs) as one character each: the same where it
 * is ASCII.
 */
function readings(text: string): string[] {
  const wide = Buffer.from(text, 'utf16le')
  const bytes = [Buffer.from(text), wide, Buffer.from(wide).swap16()]
  return [...new Set([text, ...bytes.map((each) => each.toString('latin1').replaceAll('\0', ''))])]
}

/**
 * One character: escaped for JSON any number of times over, plain, or percent-encoded by whichever
 * rule. The first one begins no escape in the midst of backslashes: tried at each of many, they
 * would take quadratic time.
 */
function characterSource(character: string, isFirst: boolean): string {
  const backslashes = isFirst ? '(?<!\\\\)\\\\+' : '\\\\+'
  const percent = [...Buffer.from(character)].map((byte) => `%${hexSource(byte, 2)}`)
  const units = Array.from(
    { length: character.length },
    (_, i) => `${i === 0 ? backslashes : '\\\\+'}u${hexSource(character.charCodeAt(i), 4)}`,
  )
  const forms = [RegExp.escape(character), percent.join(''), units.join('')]
  const escaped = JSON.stringify(character).slice(1, -1)
  if (escaped !== character) forms.unshift(`${backslashes}${RegExp.escape(escaped.slice(1))}`)
  if (character === ' ') forms.push('\\+')
  return `(?:${forms.join('|')})`
}

function hexSource(value: number, digits: number): string {
  const hex = value.toString(16).padStart(digits, '0')
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}
