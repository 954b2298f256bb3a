/**
 * Notices a changed configuration file while a gateway runs: reads it whole, shows what differs,
 * and applies it to what comes next.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Config, limits, type ServerConfig, toAppError } from '#model'
import type { Context } from '#show/cli'
import { bad, faint, good, strong, warn } from '#show/cli'
import type { Verbs } from '#verbs'

type Watch = { config(): Config; stop(): void }

/** A file that is being written is read once it has stayed the same between two looks. */
export function watchConfig(context: Context, verbs: Pick<Verbs, 'reconfigure'>): Watch {
  const { note } = context
  const file = context.config.file ?? join(process.cwd(), 'metier.json')
  let { config } = context
  let seen = textOf(file)
  /** The first look compares too: the file may have changed since we were started with it. */
  let applied = context.config.file === null ? seen : undefined
  const look = () => {
    const text = textOf(file)
    const isStill = text === seen
    seen = text
    if (!isStill || text === applied) return
    applied = text
    if (text === null) return note(warn(`${file} is gone; what was read from it stays in force`))
    if (config.file === null)
      return note(warn(`${file} is new: start serve again to use it, with a home folder beside it`))
    try {
      const next = context.readConfig()
      const lines = differences(config, next)
      if (lines.length === 0) return
      verbs.reconfigure(next)
      config = next
      note([`${strong(file)} changed:`, ...lines, faint('  runs under way keep what they began with')].join('\n'))
    } catch (error) {
      const { message } = toAppError(error)
      note(`${bad('✗')} ${file} changed and is not applied, what was read before stays in force. ${message}`)
    }
  }
  const timer = setInterval(look, limits.configLookMs).unref()
  return { config: () => config, stop: () => clearInterval(timer) }
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** By name and never by value: a value may be a secret. */
function differences(before: Config, after: Config): string[] {
  const names = [...new Set([...Object.keys(before.servers), ...Object.keys(after.servers)])]
  const sections = ['expose', 'policy', 'approvals', 'sandbox', 'budget', 'record'] as const
  return [
    ...names.flatMap((name) => serverLine(name, before.servers[name], after.servers[name])),
    ...sections.flatMap((name) => (isDeepStrictEqual(before[name], after[name]) ? [] : `  ${warn('~')} ${name}`)),
    ...(isDeepStrictEqual(before.http, after.http) ? [] : [`  ${warn('!')} http: holds from the next start on`]),
    ...(after.unsetVariables.length === 0 ? [] : [`  ${warn('!')} not set: ${after.unsetVariables.join(', ')}`]),
  ]
}

function serverLine(name: string, before: ServerConfig | undefined, after: ServerConfig | undefined): string[] {
  if (before === undefined) return [`  ${good('+')} server ${name}`]
  if (after === undefined) return [`  ${bad('-')} server ${name}`]
  const [was, is] = [before, after] as Record<string, unknown>[]
  const fields = Object.keys({ ...was, ...is }).filter((field) => !isDeepStrictEqual(was![field], is![field]))
  return fields.length === 0 ? [] : [`  ${warn('~')} server ${name}: ${fields.join(', ')}`]
}
