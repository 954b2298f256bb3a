/** An answer of discover at a terminal: how sure it is, then the ranking, one line for each of those below the cut. */
import { type JsonObject, visible } from '#model'
import { faint, oneLine, strong, warn } from './paint.ts'

export function discovered({ status, results, unmatched, nearest, silent = [], starting = [] }: JsonObject): string {
  const ranking = (results as JsonObject[]).map((result) => (result.brief === true ? brief(result) : full(result)))
  const under = (silent as string[]).map((name) => {
    const isStarting = (starting as string[]).includes(name)
    return warn(
      `${visible(name)} ${isStarting ? `is still starting: ask again, or wait with "metier tools ${name}"` : 'does not answer'}`,
    )
  })
  return [...opening(String(status), unmatched as string[], nearest as string[]), ...ranking, ...under].join('\n')
}

function opening(status: string, unmatched: string[], nearest: string[]): string[] {
  if (status === 'found') return []
  if (status === 'unsure') return [warn('None of these clearly fits.')]
  const words = unmatched.length === 0 ? '' : ` No tool knows: ${unmatched.map(visible).join(', ')}.`
  return [`Nothing seems to fit.${words}${nearest.length === 0 ? '' : ' Nearest:'}`]
}

function brief({ id, score, description }: JsonObject): string {
  return faint(`${visible(String(id))} ${Number(score).toFixed(2)} · ${oneLine(String(description))}`)
}

function full({ id, score, description, input, effect, why }: JsonObject): string {
  return [
    `${strong(visible(String(id)))} ${faint(`${Number(score).toFixed(2)} · ${effect}`)}`,
    `  ${oneLine(String(description))}`,
    `  ${visible(typeof input === 'string' ? input : JSON.stringify(input))}`,
    faint(`  ${visible(String(why))}`),
  ].join('\n')
}
