/** The forms in which a known secret may turn up: as it is, inside JSON text, percent-encoded, and in base64 at any alignment. */
import { limits } from '#model'

/** A longer secret is looked for piece by piece: a regular expression has its limits, and a part of a secret is one too. */
const pieceCharacters = 256

/** Regular expressions that find the secret in each of its forms. */
export function secretExpressions(secret: string): RegExp[] {
  return pieces([...secret]).map((piece) => {
    const forms = [...base64Texts(piece.join('')).map(base64Source), piece.map(characterSource).join('')]
    return new RegExp(forms.join('|'), 'g')
  })
}

function pieces(characters: string[]): string[][] {
  const count = Math.max(1, Math.floor((characters.length - limits.secretBytesMin) / pieceCharacters) + 1)
  return Array.from({ length: count }, (_, i) =>
    characters.slice(i * pieceCharacters, i + 1 < count ? (i + 1) * pieceCharacters : undefined),
  )
}

/** One character: escaped for JSON any number of times over, plain, or percent-encoded by whichever rule. */
function characterSource(character: string): string {
  const percent = [...Buffer.from(character)].map((byte) => `%${hexSource(byte, 2)}`)
  const units = Array.from(character, (_, i) => `\\\\+u${hexSource(character.charCodeAt(i), 4)}`)
  const forms = [RegExp.escape(character), percent.join(''), units.join('')]
  const escaped = JSON.stringify(character).slice(1, -1)
  if (escaped !== character) forms.unshift(`\\\\+${RegExp.escape(escaped.slice(1))}`)
  if (character === ' ') forms.push('\\+')
  return `(?:${forms.join('|')})`
}

/** Whole, and for each alignment within longer data the characters that depend on the secret alone. */
function base64Texts(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const cores = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64')
    return text.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  return [bytes.toString('base64'), bytes.toString('base64').replace(/=+$/, ''), ...cores]
}

/** Standard or URL-safe, and the three characters that a URL escapes. */
function base64Source(text: string): string {
  return text.replaceAll('=', '(?:=|%3[dD])').replaceAll('+', '(?:[+-]|%2[bB])').replaceAll('/', '(?:\\\\*/|_|%2[fF])')
}

function hexSource(value: number, digits: number): string {
  const hex = value.toString(16).padStart(digits, '0')
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}
