/** What a subject's last runs called: discover ranks what goes with it higher. */
import type { PastRun } from '#learn/graph'

const recentRunsMax = 20
const recentMs = 3_600_000

export function recentTools(runs: readonly PastRun[], { subject }: { subject: string | null }, now: number): string[] {
  const own: string[] = []
  for (let at = runs.length - 1, count = 0; at >= 0 && count < recentRunsMax; at--) {
    const run = runs[at]!
    if (now - Date.parse(run.at) > recentMs) break
    if (run.subject !== subject) continue
    own.push(...run.tools)
    count++
  }
  return own
}
