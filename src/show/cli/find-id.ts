/** Finds what a person means by the start of an id, or by `@last`, in place of a whole UUID. */
import { AppError, isUuid, limits } from '#model'
import { artifactsOf } from './artifacts-of.ts'
import type { Context, IdKind } from './command.ts'

type Found = { ids: string[]; isAll: boolean }

const lists: Record<IdKind, string> = {
  run: 'metier runs',
  approval: 'metier approvals',
  artifact: 'metier artifacts',
  mission: 'metier missions',
  task: 'metier tasks',
}

/**
 * A whole id, and what is none at all, is handed on as it is: the command knows what to say of it.
 */
export async function findId(context: Context, kind: IdKind, given: string): Promise<string> {
  const isComplete: boolean = isUuid(given)
  if (isComplete) return given.toLowerCase()
  if (given === '@last') return last(context, kind)
  if (!/^[0-9a-f][0-9a-f-]*$/i.test(given)) return given
  const prefix = given.toLowerCase()
  const details = `the start of an id has at least ${limits.idPrefixCharactersMin} characters`
  if (prefix.length < limits.idPrefixCharactersMin) throw unclear(kind, given, details)
  const { ids, isAll } = await startingWith(context, kind, prefix)
  if (ids.length === 1) return ids[0]!
  if (ids.length === 0) throw unclear(kind, given, 'none begins with it', context.config.home)
  throw new AppError(
    'INVALID_INPUT_PARAM',
    `Cannot tell which ${kind} "${given}" is: it may be ${ids.join(', ')}${isAll ? '' : ' or another'}`,
    { param: 'id', details: 'more than one begins with it', value: given, candidates: ids },
  )
}

/**
 * As much of an id as a person may give for it: the time in it to a millisecond, and some of what
 * is random, so that two of the same second, or of the same millisecond, are told apart.
 */
export function shortId(id: string): string {
  return id.slice(0, limits.idShortCharacters)
}

function unclear(kind: IdKind, value: string, details: string, home?: string): AppError {
  const where = home === undefined ? '' : ` in the home ${home}`
  const message = `Cannot find the ${kind} "${value}"${where}: ${details}; "${lists[kind]}" lists them`
  return new AppError('INVALID_INPUT_PARAM', message, { param: 'id', details, value })
}

async function last(context: Context, kind: IdKind): Promise<string> {
  const found = await newest(context, kind)
  if (found === undefined) throw unclear(kind, '@last', 'there is none', context.config.home)
  return found
}

async function newest(context: Context, kind: IdKind): Promise<string | undefined> {
  if (kind === 'artifact') return (await artifactIds(context))[0]
  if (kind === 'mission' || kind === 'task') return (await graphIds(context, kind, '', 1))[0]
  return (await context.record()).lastId(kind)
}

async function startingWith(context: Context, kind: IdKind, prefix: string): Promise<Found> {
  const most = limits.idCandidatesMax
  const all = await candidates(context, kind, prefix, most + 1)
  const ids = all.filter((id) => id.startsWith(prefix))
  return { ids: ids.slice(0, most), isAll: ids.length <= most }
}

async function candidates(context: Context, kind: IdKind, prefix: string, most: number): Promise<string[]> {
  if (kind === 'artifact') return artifactIds(context)
  if (kind === 'mission' || kind === 'task') return graphIds(context, kind, prefix, most)
  return (await context.record()).idsStartingWith(kind, prefix, most)
}

async function graphIds({ record, signal }: Context, kind: 'mission' | 'task', prefix: string, most: number) {
  const { taskGraph } = await record()
  return taskGraph.newest(kind === 'mission' ? 'Mission' : 'Task', prefix, most, { signal })
}

/** Newest first. */
async function artifactIds({ config }: Context): Promise<string[]> {
  return (await (await artifactsOf(config)).list()).map(({ id }) => id)
}

/**
 * An id that is not there is told together with the home in which it was looked for: there may be
 * another.
 */
export function withHome(thrown: unknown, home: string): unknown {
  if (!(thrown instanceof AppError)) return thrown
  const { code, message, context, cause } = thrown
  const isUnknown = code === 'RUN_NOT_FOUND' || code === 'S3_ARTIFACT_NOT_FOUND' || context.param === 'id'
  if (!isUnknown || message.includes(home)) return thrown
  return new AppError(code, `${message} (looked into the home ${home})`, context, cause)
}
