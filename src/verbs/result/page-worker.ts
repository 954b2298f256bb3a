/** The thread that reads a large result from its blob, checks it, and cuts one page out of it. */
import { parentPort, workerData } from 'node:worker_threads'
import { type BlobReference, type ErrorData, toAppError } from '#model'
import { readBlob } from '#record'
import { type Paged, pageOf, type Wanted } from './page.ts'

export type CutRequest = { folder: string; reference: BlobReference; wanted: Wanted }
export type CutAnswer = { page: Paged } | { error: ErrorData }

const { folder, reference, wanted } = workerData as CutRequest
parentPort!.postMessage(answer())

function answer(): CutAnswer {
  try {
    return { page: pageOf(readBlob(folder, reference), wanted, reference.$blob) }
  } catch (error) {
    return { error: toAppError(error).toJSON() }
  }
}
