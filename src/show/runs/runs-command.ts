/** The list of runs, narrowed by options, with local times and ages for a person. */
import { type JsonObject, limits, type RunStatus, runStatuses } from '#model'
import {
  type Command,
  counted,
  exit,
  faint,
  mark,
  numberOption,
  type Options,
  oneLine,
  table,
  UsageError,
} from '#show/cli'
import type { RunFilter } from '#verbs'

const modes = ['run', 'dry-run', 'explore'] as const

export const runs: Command = {
  group: 'Look',
  usage: 'runs [--status S,…] [--since 2h|2026-11-01] [--tool ID] [--server NAME] [--mode M] [--limit N]',
  does: 'what ran, newest first',
  options: {
    limit: { type: 'string' },
    status: { type: 'string' },
    since: { type: 'string' },
    tool: { type: 'string' },
    server: { type: 'string' },
    mode: { type: 'string' },
  },
  words: [0, 0],
  run: async (context) => {
    const filter = filterOf(context.options, Date.now())
    const { runs } = await context.record()
    if (context.json) {
      context.print(JSON.stringify(runs(filter)))
      return exit.done
    }
    const limit = filter.limit ?? limits.runsShownDefault
    const listed = runs({ ...filter, limit: limit + 1 })
    const isNarrowed = Object.keys(filter).some((name) => name !== 'limit')
    const nothing = `Nothing ran yet in the home ${context.config.home}. Try: metier demo`
    if (listed.length === 0) context.print(isNarrowed ? 'No run is like that.' : nothing)
    else context.print(table(listed.slice(0, limit).map((run) => runLine(run, Date.now()))))
    if (listed.length > limit) context.note(`… older ones: --limit ${limit * 2}`)
    return exit.done
  },
}

export function filterOf(options: Options, now: number): RunFilter {
  const limit = numberOption(options, 'limit', 1)
  const { status, since, tool, server, mode } = options as Record<string, string | undefined>
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(status === undefined
      ? {}
      : { status: status.split(',').map((one) => named<RunStatus>('status', one, runStatuses)) }),
    ...(since === undefined ? {} : { since: sinceOf(since, now) }),
    ...(tool === undefined ? {} : { tool }),
    ...(server === undefined ? {} : { server }),
    ...(mode === undefined ? {} : { mode: named('mode', mode, modes) }),
  }
}

function named<T extends string>(option: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === given)
  if (found !== undefined) return found
  throw new UsageError(`--${option} takes ${allowed.join(', ')}, not "${given}"`)
}

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * `90m` counts back from now; a date without a zone is local, as a person at a terminal means it.
 */
function sinceOf(given: string, now: number): string {
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(given) ?? []
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(given)
  const at = count === undefined ? Date.parse(isDay ? `${given}T00:00:00` : given) : now - Number(count) * unitMs[unit]!
  if (Number.isNaN(at)) throw new UsageError(`--since takes a time back (30m, 2h, 7d) or a date, not "${given}"`)
  return new Date(at).toISOString()
}

function runLine({ run, status, mode, intent, startedAt, callCount }: JsonObject, now: number): string[] {
  const isReal = mode === 'run'
  return [
    String(run),
    `${isReal ? mark(String(status)) : faint('≈')} ${status}${isReal ? '' : ` (${mode})`}`,
    localTime(String(startedAt)),
    faint(age(now - Date.parse(String(startedAt)))),
    counted(callCount, 'call'),
    oneLine(String(intent ?? '—'), 50),
  ]
}

function localTime(at: string): string {
  const date = new Date(at)
  const pad = (part: number) => String(part).padStart(2, '0')
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(pad).join(':')
  return `${day} ${time} ${zoneName(-date.getTimezoneOffset())}`
}

/** `UTC`, `GMT+2`, `GMT-3:30`: its own name would need a formatter, which takes 20 ms to make. */
function zoneName(minutesEast: number): string {
  const [hours, minutes] = [Math.floor(Math.abs(minutesEast) / 60), Math.abs(minutesEast) % 60]
  if (minutesEast === 0) return 'UTC'
  return `GMT${minutesEast < 0 ? '-' : '+'}${hours}${minutes === 0 ? '' : `:${String(minutes).padStart(2, '0')}`}`
}

/** In the largest unit that is not below one: `5 s ago`, `3 min ago`, `2 h ago`, `12 d ago`. */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : `${Math.floor(seconds / 86_400)} d ago`
}
