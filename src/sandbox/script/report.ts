/**
 * Says of a box in plain words how each of its limits is held, and what is weaker than it should
 * be.
 */
import type { IsolationReport } from '#model'
import type { Driver, Places } from '#sandbox/script-box'

type Circumstances = { version: string; places: Places; weaknesses: string[] }

export function reportOf(driver: Driver, { version, places, weaknesses }: Circumstances): IsolationReport {
  const { memory, pids, cpu } = places.folders
  const isOs = driver.tier === 'os'
  const degraded = [
    ...driver.degraded,
    ...(memory
      ? []
      : [
          'no control group bounds the memory: it is measured many times a second, and what the kernel itself holds for a script is not bounded',
        ]),
    ...(cpu ? [] : ['no control group bounds the processors: a script may use all of them until its time is over']),
    ...weaknesses,
  ]
  return {
    tier: driver.tier,
    layers: [...driver.layers, ...(memory || pids || cpu ? ['cgroup'] : [])],
    runtime: { name: isOs ? 'bubblewrap' : 'gvisor', version },
    enforced: {
      memory: memory ? 'cgroup' : isOs ? 'watchdog, rlimit' : 'watchdog',
      pids: isOs && pids ? 'cgroup' : 'rlimit',
      cpu: cpu ? 'cgroup' : 'timeout',
      disk: 'tmpfs',
      network: 'namespace',
      files: isOs ? 'namespace' : 'gvisor',
    },
    degraded,
  }
}

/** The same box with a way out. */
export function withWayOut(report: IsolationReport): IsolationReport {
  return { ...report, enforced: { ...report.enforced, network: 'namespace, proxy' } }
}
