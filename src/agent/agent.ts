/**
 * An agent of our own: a goal enters, a session leaves, with every file, script and question on the
 * record. Its loop is a program like code and graphs (loop.ts); what it touches are two servers
 * that only it sees. Refuses whatever would lead out of its workspace.
 */
import { join } from 'node:path'
import { openModel } from '#agent/models'
import { readPlan } from '#agent/protocol'
import { projectSession, readSession } from '#agent/session'
import { openScriptBoxes, type ScriptBoxes } from '#sandbox'
import { type Artifacts, openArtifacts, type SessionKit } from '#verbs'
import { agentProgram } from './loop.ts'
import { directoryOf } from './new-plan.ts'
import { modelServer, workspaceServer } from './session-servers.ts'
import { workspaceTools } from './workspace-tools.ts'

export { reachable } from '#agent/models'
export {
  isSession,
  projectSession,
  readSession,
  type SessionRecord,
  type SessionView,
  sessionPage,
  statusOf,
  verifySession,
  viewSession,
} from '#agent/session'
export { newPlan, type PlanRequest } from './new-plan.ts'

/** What the engine needs for sessions; given to the verbs when they are opened. */
export const sessionKit: SessionKit = {
  maker: { version: '3', make: (source) => agentProgram(readPlan(source)) },
  servers({ config, planOf, discover, result }, listening) {
    let opened: ScriptBoxes | null = null
    let stored: Promise<Artifacts> | null = null
    const { minTier } = config.sandbox
    const folder = join(config.home, 'sandbox')
    const boxes = () => (opened ??= openScriptBoxes({ folder, minTier: minTier === 'wasm' ? 'os' : minTier }))
    const tools = workspaceTools({
      folderOf: (run) => readPlan(planOf(run)).workspace,
      own: [config.home, ...(config.file === null ? [] : [config.file])],
      boxes,
      artifacts: () => (stored ??= openArtifacts(config)),
      discover,
      result,
    })
    const directory = directoryOf(config)
    return [
      modelServer((name) => openModel(name, config, { directory }), listening),
      workspaceServer(tools, async () => opened?.close()),
    ]
  },
  writeBooks: async (record, session) => projectSession(await readSession(record, session)),
}
