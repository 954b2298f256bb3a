/** result(): the whole of any result, a page at a time. */
import { AppError, fromErrorData, limits, parseId, type RunId, type Stored } from '#model'
import { blobOf, homePaths, type Store } from '#record'
import { missing, numberOf, objectOf, oneOf, optional, textOf } from '#verbs/input'
import { argumentsSuffix } from '#verbs/text'
import { aboutRun, aboutRunNow, type ResultAnswer, type RunView, viewRun } from '#verbs/views'
import { type Format, type Paged, pageOf, partText, type Wanted } from './page.ts'

export async function result(store: Store, input: unknown): Promise<ResultAnswer> {
  const asked = readInput(input)
  return aboutRun(store, asked.run, () => pageOfRun(store, asked))
}

async function pageOfRun(store: Store, { run, call, ...wanted }: ReturnType<typeof readInput>): Promise<ResultAnswer> {
  const { offset } = wanted
  const view = viewRun(store, run)
  const { status } = view.row
  if (call === undefined && view.finished === undefined) {
    return { run, status, value: null, offset, next: null, bytes: 0, digest: null }
  }
  const member = call === undefined ? resultOf(view) : callValue(view, call)
  const { next, bytes, digest, ...shown } = await pageOfMember(store, member, wanted)
  return { run, status, ...shown, offset, next, bytes, digest }
}

/** The whole of a result as JSON text, for a process that has room for it. */
export function resultText(store: Store, input: unknown): string {
  const { run, call, path } = readInput(input)
  return aboutRunNow(store, run, () => {
    const view = viewRun(store, run)
    const member = call === undefined ? resultOf(view) : callValue(view, call)
    return member === null ? 'null' : partText(store.text(member), path)
  })
}

/** Null where nothing was returned. */
type Member = Stored<unknown> | null

/**
 * A large result is read, checked and cut by another thread, one at a time: no other request waits
 * for it.
 */
async function pageOfMember(store: Store, member: Member, wanted: Wanted): Promise<Paged> {
  if (member === null) return pageOf('null', wanted)
  const blob = blobOf(member)
  if (blob === null) return pageOf(store.text(member), wanted)
  if (blob.bytes > limits.resultHereBytesMax) {
    const { pageInThread } = await import('./page-in-thread.ts')
    return pageInThread(homePaths(store.home).blobs, blob, wanted)
  }
  return pageOf(store.text(member), wanted, blob.$blob)
}

function readInput(input: unknown) {
  const { run, call, path, offset, limit, format } = objectOf('input', input, [
    'run',
    'call',
    'path',
    'offset',
    'limit',
    'format',
  ])
  if (run === undefined) throw missing('run', 'it stands in the answer of execute')
  const count = (name: string) => (value: unknown) => numberOf(name, value, [0, Number.MAX_SAFE_INTEGER])
  return {
    run: parseId<RunId>('run', run, '; "metier runs" lists them'),
    call: optional(call, (value) => (typeof value === 'number' ? String(value) : textOf('call', value)), undefined),
    path: optional(path, (value) => textOf('path', value), ''),
    offset: optional(offset, count('offset'), 0),
    ...(limit === undefined ? {} : { limit: count('limit')(limit) }),
    ...(format === undefined ? {} : { format: oneOf<Format>('format', format, ['json', 'text', 'keys']) }),
  }
}

function resultOf({ finished }: RunView): Member {
  if (finished?.error !== undefined) throw fromErrorData(finished.error)
  return finished?.result ?? null
}

function callValue({ calls }: RunView, wanted: string): Member {
  const named = (name: string) => calls.find(({ call, task }) => call === name || task === name)
  const call = named(wanted)
  const asked = call ?? (wanted.endsWith(argumentsSuffix) ? named(wanted.slice(0, -argumentsSuffix.length)) : undefined)
  if (call === undefined && asked !== undefined) return asked.edited ?? asked.args
  if (call === undefined) {
    const details = `the run has no call or task "${wanted}"`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot page the result: ${details}`, {
      param: 'call',
      details,
      value: wanted,
    })
  }
  const { resolved } = call
  if (resolved?.value === undefined && resolved?.error !== undefined) throw fromErrorData(resolved.error)
  return resolved?.value ?? null
}
