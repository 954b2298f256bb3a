/**
 * Runs scripts in a process that others can kill, or start as another user: one line of JSON for
 * each request, in order.
 */
import { openScriptBoxes, type ScriptBoxesOptions, type ScriptRequest } from '#sandbox'

export type GuestOrder = { options: ScriptBoxesOptions; requests: ScriptRequest[] }

const { options, requests } = JSON.parse(process.argv[2]!) as GuestOrder
const boxes = openScriptBoxes(options)
await boxes.accept('os')
for (const request of requests) {
  const said = await boxes
    .run(request)
    .catch((thrown) => ({ error: thrown.code, message: thrown.message, ...thrown.context }))
  console.log(JSON.stringify(said))
}
await boxes.close()
