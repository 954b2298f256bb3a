/** Tells a client how far its request is, where it asked to be told. */
import type { ServerContext } from '@modelcontextprotocol/server'
import type { Progress } from '#verbs'

/**
 * Undefined where the client gave no token. By the protocol progress only ever grows, so what does
 * not is left out; and a client that is gone is not told. `current` is the request under way: one
 * that was answered with questions comes again.
 */
export function progressReporter(current: () => ServerContext): ((progress: Progress) => void) | undefined {
  if (current().mcpReq._meta?.progressToken === undefined) return undefined
  let last = Number.NEGATIVE_INFINITY
  return (progress) => {
    const { _meta, signal, notify } = current().mcpReq
    if (_meta?.progressToken === undefined || signal.aborted || !(progress.progress > last)) return
    last = progress.progress
    notify({ method: 'notifications/progress', params: { ...progress, progressToken: _meta.progressToken } }).catch(
      () => {},
    )
  }
}
