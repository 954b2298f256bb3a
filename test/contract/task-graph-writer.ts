/** Creates missions until it is killed, and prints each id once its write is acknowledged. */
import { newId } from '#model'
import { createMission, openGraphStore, openTaskGraph } from '#tasks'

const graph = openTaskGraph(await openGraphStore({ file: process.argv[2]! }))
const run = newId()
for (let call = 1; call < 10_000; call++) {
  const caller = { run, call: String(call), signal: AbortSignal.timeout(60_000) }
  const { missionID } = await createMission(graph, { name: `mission ${call}` }, caller)
  process.stdout.write(`${missionID}\n`)
}
