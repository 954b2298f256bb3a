/**
 * Cuts a page out of a large result in a thread of its own, which is gone with all it needed when
 * the page is cut.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type BlobReference, fromErrorData } from '#model'
import type { Paged, Wanted } from './page.ts'
import type { CutAnswer, CutRequest } from './page-worker.ts'

let last: Promise<unknown> = Promise.resolve()

/** One at a time: what is read of a result takes a multiple of its size. */
export function pageInThread(folder: string, reference: BlobReference, wanted: Wanted): Promise<Paged> {
  const page = last.then(() => cut({ folder, reference, wanted }))
  last = page.catch(() => {})
  return page
}

async function cut(request: CutRequest): Promise<Paged> {
  const thread = new Worker(new URL('./page-worker.ts', import.meta.url), { workerData: request, env: {} })
  const [answer] = (await once(thread, 'message')) as [CutAnswer]
  if ('error' in answer) throw fromErrorData(answer.error)
  return answer.page
}
