/**
 * A store whose process kills itself with SIGKILL at a chosen event of the run that it starts:
 * before the event is on disk, or just after.
 */
import type { Chain, Store } from '#record'

export type Death = { boundary: number; moment: 'before' | 'after' }

const die = () => process.kill(process.pid, 'SIGKILL')

export function deadlyStore(store: Store, death: Death): Store {
  return { ...store, startRun: (run, body) => deadly(store.startRun(run, body), death) }
}

/** The last event of a run has a function of its own. */
function deadly(chain: Chain, { boundary, moment }: Death): Chain {
  let events = 1
  const reach = (onDisk: () => Promise<unknown>): void => {
    if (events !== boundary) return
    if (moment === 'before') die()
    else void onDisk().then(die)
  }
  reach(() => chain.durable())
  const append: Chain['append'] = (type, body) => {
    const place = chain.append(type, body)
    events += 1
    reach(() => chain.durable())
    return place
  }
  const finish: Chain['finish'] = (body) => {
    const finished = chain.finish(body)
    events += 1
    reach(() => finished)
    return finished
  }
  return { ...chain, append, finish }
}
