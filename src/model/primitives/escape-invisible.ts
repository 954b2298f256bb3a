/**
 * Text that cannot deceive its reader: what is invisible, or turns the direction of reading, is
 * shown as an escape.
 */

/**
 * Also of JSON text, which says the same after it: such characters stand only inside strings, where
 * the escape means them.
 */
export function escapeInvisible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu, (character) =>
    character === '\n' ? character : escapes(character),
  )
}

function escapes(character: string): string {
  return Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}
