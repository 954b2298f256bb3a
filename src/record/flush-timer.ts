/**
 * Posts what was appended to any chain and is not waited for: it gets to the disk a little later.
 */
import { limits } from '#model'

export type FlushTimer = {
  /** `post` is called soon, unless it is taken out before. */
  add(post: () => void): void
  /** False where it was not, or no longer, in here. */
  delete(post: () => void): boolean
  postAll(): void
}

/** One timer for all: most are taken out at once, by those who wait. */
export function openFlushTimer(): FlushTimer {
  const waiting = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined

  function postAll(): void {
    clearTimeout(timer)
    timer = undefined
    for (const post of waiting) post()
  }

  return {
    add(post) {
      waiting.add(post)
      timer ??= setTimeout(postAll, limits.commitDelayMsMax)
    },
    delete: (post) => waiting.delete(post),
    postAll,
  }
}
