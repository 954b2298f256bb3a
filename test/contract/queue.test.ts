/**
 * The queue in this process, with the catalogue's word for what a dead owner left, against the
 * contract.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { endOrphansOf } from '#catalog'
import { newId, type ProcessId } from '#model'
import { loadEngine } from '#run'
import { queueContract } from './queue.ts'

const { openLocalQueue } = await loadEngine()

queueContract('in this process', async (t, make) => ({
  queue: openLocalQueue({ make, leftovers: endOrphansOf }),
  deadOwner(ms) {
    const owner = newId<ProcessId>()
    const guard = spawn('sh', ['-c', `sleep ${ms / 1000}; true`, 'metier-guard', owner], { stdio: 'ignore' })
    t.after(() => guard.kill('SIGKILL'))
    // A process that ended has no command line any more, also before we hear of its end.
    return {
      owner,
      isAlive: () => existsSync(`/proc/${guard.pid}`) && readFileSync(`/proc/${guard.pid}/cmdline`).length > 0,
    }
  },
}))
