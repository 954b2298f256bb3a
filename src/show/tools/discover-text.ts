/**
 * An answer of discover at a terminal: how sure it is, then the ranking, one line for each of those
 * below the cut.
 */
import { escapeInvisible } from '#model'
import { faint, oneLine, strong, warn } from '#show/cli'
import type { DiscoverAnswer } from '#verbs'

type FoundTool = DiscoverAnswer['results'][number]

export function discoverText({
  status,
  results,
  unmatched,
  nearest,
  silent = [],
  starting = [],
}: DiscoverAnswer): string {
  const ranking = results.map((result) => (result.brief ? brief(result) : full(result)))
  const under = silent.map((name) => {
    const isStarting = starting.includes(name)
    return warn(
      `${escapeInvisible(name)} ${isStarting ? `is still starting: ask again, or wait with "metier tools ${name}"` : 'does not answer'}`,
    )
  })
  return [...opening(status, unmatched, nearest), ...ranking, ...under].join('\n')
}

function opening(status: string, unmatched: string[], nearest: string[]): string[] {
  if (status === 'found') return []
  if (status === 'unsure') return [warn('None of these clearly fits.')]
  const words = unmatched.length === 0 ? '' : ` No tool knows: ${unmatched.map(escapeInvisible).join(', ')}.`
  return [`Nothing seems to fit.${words}${nearest.length === 0 ? '' : ' Nearest:'}`]
}

function brief({ id, score, description }: FoundTool): string {
  return faint(`${escapeInvisible(id)} ${score.toFixed(2)} · ${oneLine(description)}`)
}

function full({ id, score, description, input, effect, why }: Exclude<FoundTool, { brief: true }>): string {
  return [
    `${strong(escapeInvisible(id))} ${faint(`${score.toFixed(2)} · ${effect}`)}`,
    `  ${oneLine(description)}`,
    `  ${escapeInvisible(typeof input === 'string' ? input : JSON.stringify(input))}`,
    faint(`  ${escapeInvisible(why)}`),
  ].join('\n')
}
