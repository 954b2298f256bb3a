/** The half of the verbs that moves runs: it opens the catalogue, the engine and boxes, and is loaded when that is asked for. */
import { type Catalog, declarationsOf } from '#catalog'
import { type Config, type Json, type JsonObject, limits, type Tool } from '#model'
import { loadEngine } from '#run'
import { aboutRun } from './about-run.ts'
import type { RecordVerbs, Surroundings, Verbs } from './contract.ts'
import { cancelRun, decideApproval } from './decide.ts'
import { discover } from './discover.ts'
import { execute, forkRun, replayRun, resume } from './execute.ts'
import { forgetLine } from './forget.ts'
import { announce } from './gateways.ts'
import { openGenerations } from './generations.ts'
import { named } from './preview.ts'
import { id } from './record-verbs.ts'
import { settleCall } from './settle.ts'
import { takeUp } from './take-up.ts'

/** `record` is closed together with what comes back. */
export async function openMovingVerbs(
  record: RecordVerbs,
  config: Config,
  { path, home, settled, log = () => {} }: Surroundings,
): Promise<Verbs> {
  const { store } = record
  const { openEngine } = await loadEngine()
  const baseEnv = { ...(path === undefined ? {} : { PATH: path }), ...(home === undefined ? {} : { HOME: home }) }
  const generations = openGenerations(config, {
    store,
    baseEnv,
    log,
    openEngine,
    settled: (run) => settled?.(verbs, run),
  })
  const { catalog, engine } = generations
  const leaving = new AbortController()
  const parts = {
    store,
    engine,
    catalog,
    get policy() {
      return generations.config().policy
    },
    leaving: leaving.signal,
  }
  let closing: Promise<void> | undefined
  let changed = () => {}
  const letGo = () => {
    leaving.abort()
    return engine.close()
  }
  const close = async () => {
    await letGo()
    await generations.close()
    await record.close()
  }
  const verbs: Verbs = {
    ...record,
    catalog,
    discover: (input) => discover(catalog, input),
    execute: (input, caller) => execute(parts, input, caller),
    resume: (run, caller) => resume(parts, id(run), caller, caller.waitMs ?? null),
    cancel: (run, caller, reason) => aboutRun(store, id(run), () => cancelRun(parts, id(run), caller, reason)),
    fork: (run, at, args, caller) => forkRun(parts, id(run), at, args, caller),
    replay: (run) => aboutRun(store, id(run), () => replayRun(parts, id(run))),
    settle: (run, call, settling, caller, goOn) =>
      aboutRun(store, id(run), () => settleCall(parts, id(run), call, settling, caller, goOn)),
    decide: (approval, decision, caller, goOn) => decideApproval(parts, approval, decision, caller, goOn),
    forget: (line, caller) => forgetLine(store, line, caller),
    // By the policy that holds now, which may be of a later configuration than the record was opened with.
    named: (approvals) => named(parts, approvals),
    serveAt: (url, resumes) => {
      const say = () => announce(store, { url, servers: resumes ? catalog.digests() : null })
      const undo = [say(), ...(resumes ? [takeUp(parts, log)] : [])]
      changed = say
      return () => {
        changed = () => {}
        for (const step of undo) step()
      }
    },
    tools: async (server, firstMs = limits.toolListMsMax) => {
      const how = server === undefined ? { waitMs: limits.toolListMsMax, firstMs } : { server }
      const { tools, problems } = await catalog.tools(how)
      return { tools: tools.map((tool) => toolLine(tool, catalog)), problems }
    },
    types: async () => {
      const { tools, problems } = await catalog.tools({ waitMs: limits.toolListMsMax, firstMs: limits.firstListMsMax })
      return { text: declarationsOf(tools.map((tool) => catalog.told(tool))), tools: tools.length, problems }
    },
    exposed: async (isMeant = () => true, msMax) => {
      const tools = generations
        .config()
        .expose.filter(isMeant)
        .map((id) => catalog.tool(id, msMax))
      return (await Promise.all(tools)).flatMap((tool) => (tool === undefined ? [] : catalog.told(tool)))
    },
    permissions: () => generations.config().policy.permissions,
    isolation: () => generations.boxes().isolation(),
    reconfigure(next) {
      generations.change(next)
      changed()
      catalog.warmUp()
      // Boxes of another configuration are tested before somebody asks whether they hold.
      void generations
        .boxes()
        .isolation()
        .catch(() => {})
    },
    health: () => generations.boxes().health(),
    letGo,
    close: () => (closing ??= close()),
  }
  return verbs
}

function toolLine(tool: Tool, catalog: Catalog): JsonObject {
  const { id, description, effect, effects, effectFrom, input, observed, output = observed, digest } = tool
  const changed = catalog.changeOf(tool)
  return {
    id,
    description,
    effect,
    ...(effects && { effects: [...effects] }),
    effectFrom,
    input,
    ...(output === undefined ? {} : { output }),
    pinned: catalog.isPinned(tool),
    ...(changed === null ? {} : { changed: changed as unknown as Json }),
    digest,
  }
}
