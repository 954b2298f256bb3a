/**
 * Of requests with one key that meet in this process the first starts a run; elsewhere the record
 * decides who was first.
 */
import type { RunId } from '#model'
import { requestKeyConflict } from '#record'
import type { AskedRequest } from './run-started.ts'

type Start<Run> = (request: AskedRequest) => Promise<Run>

/**
 * `starting` holds those under way by their keys. The others are refused as the record would refuse
 * them: with the run that has the key.
 */
export function startByKey<Run extends { run: RunId }>(
  starting: Map<string, Promise<Run>>,
  startNew: Start<Run>,
): Start<Run> {
  return async function start(request) {
    const { key } = request
    if (key === undefined) return startNew(request)
    const sooner = starting.get(key)
    if (sooner === undefined) {
      const run = startNew(request).finally(() => starting.delete(key))
      starting.set(key, run)
      return run
    }
    const holder = await sooner.catch(() => null)
    if (holder === null) return start(request)
    throw requestKeyConflict(holder.run)
  }
}
