/**
 * What people do about servers and tools: list and accept them, ask what policy would say, propose
 * effect classes, log in.
 */
import { boxWords, type Catalog, declarationsOf, openCallback } from '#catalog'
import { AppError, builtInServer, type Config, type Json, type JsonObject, limits, type Tool } from '#model'
import type { Store } from '#record'
import {
  comparesArguments,
  dangerOf,
  decide,
  decideEarly,
  isAbout,
  notCovered,
  standingRules,
  suggestEffect,
} from '#run'
import type { Explanation, ServerCheck, ToolVerbs } from './contract.ts'
import type { ExposedChange } from './exposed-change.ts'
import type { Generations } from './generations.ts'

type Parts = { store: Store } & Pick<Generations, 'catalog' | 'config'> & ExposedChange

export function openToolVerbs({ catalog, store, config, onExposedChange }: Parts): ToolVerbs {
  return {
    tools: async (server, firstMs = limits.toolListMsMax) => {
      const how = server === undefined ? { waitMs: limits.toolListMsMax, firstMs } : { server }
      const { tools, problems } = await catalog.tools(how)
      return { tools: tools.map((tool) => toolLine(tool, catalog)), problems }
    },
    types: async () => {
      const { tools, problems } = await catalog.tools({ waitMs: limits.toolListMsMax, firstMs: limits.firstListMsMax })
      return { text: declarationsOf(tools.map((tool) => catalog.forAgents(tool))), tools: tools.length, problems }
    },
    exposed: async (isMeant = () => true, msMax) => {
      const tools = config()
        .expose.filter(isMeant)
        .map((id) => catalog.tool(id, msMax))
      return (await Promise.all(tools)).flatMap((tool) => (tool === undefined ? [] : catalog.forAgents(tool)))
    },
    onExposedChange,
    warmUp: () => catalog.warmUp(),
    checkServers: () => checkServers(catalog, config()),
    serverProblem: (server) => catalog.problemOfServer(`${server}:*`),
    toAccept: async (tools) => {
      const server = /^([^:]+):\*$/.exec(tools)?.[1]
      return server === undefined ? [await toolNamed(catalog, tools, 'accept')] : changedOf(catalog, server)
    },
    accept: (tool, caller) => catalog.accept(tool, caller.actor.name),
    explain: async (id, args) => {
      const tool = await toolNamed(catalog, id, 'explain')
      const { permissions, rules } = config().policy
      return explain(tool, args, permissions, [...rules, ...standingRules(store, permissions)])
    },
    suggestEffects: async (server) => {
      const { tools, problems } = await catalog.tools({ server })
      const [problem] = problems
      if (problem !== undefined) throw problem.error
      const silent = tools.filter(({ effectFrom }) => effectFrom === 'default')
      return silent.map((tool) => ({ tool: tool.name, ...suggestEffect(tool) }))
    },
    async login(server, { scope, ...asking }) {
      const authorize = await openCallback(asking)
      try {
        await catalog.login(server, { authorize, signal: asking.signal, ...(scope !== undefined && { scope }) })
      } finally {
        authorize.close()
      }
    },
    logout: (server, signal) => catalog.logout(server, signal),
  }
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
    ...(changed === null ? {} : { changed: changed as Json }),
    digest,
  }
}

async function checkServers(catalog: Catalog, { servers }: Config): Promise<ServerCheck[]> {
  const { tools, problems } = await catalog.tools({ refresh: true })
  const about = (server: string) => {
    const own = tools.filter((tool) => tool.server === server)
    const problem = problems.find((candidate) => candidate.server === server)?.error ?? null
    const refused = own.filter((tool) => catalog.refusalOf(tool) !== null).map(({ id }) => id)
    return { server, tools: own, refused, problem }
  }
  const upstream = Object.entries(servers).map(([server, definition]) => ({
    ...about(server),
    era: catalog.eraOf(server),
    box: boxWords(definition),
  }))
  return [...upstream, { ...about(builtInServer), era: null, box: 'in this process' }]
}

/** As the server has them now, not as we remember them. */
async function changedOf(catalog: Catalog, server: string): Promise<Tool[]> {
  const { tools, problems } = await catalog.tools({ server, refresh: true })
  if (problems.length > 0) throw problems[0]!.error
  return tools.filter((tool) => catalog.changeOf(tool) !== null)
}

async function toolNamed(catalog: Catalog, id: string, verb: string): Promise<Tool> {
  const tool = await catalog.tool(id)
  if (tool !== undefined) return tool
  const near = catalog.near(id)
  const hint = near.length === 0 ? '"metier tools" lists them' : `did you mean ${near.join(' or ')}?`
  const message = `Cannot ${verb} "${id}": there is no such tool; ${hint}`
  const missing = new AppError('TOOL_NOT_FOUND', message, { tool: id, ...(near.length > 0 && { near }) })
  throw catalog.problemOfServer(id) ?? missing
}

type Policy = Config['policy']

/** Without arguments it is said as far as they do not matter. */
function explain(
  tool: Tool,
  args: Json | undefined,
  permissions: Policy['permissions'],
  rules: Policy['rules'],
): Explanation {
  const { effects, effectFrom } = tool
  const danger = dangerOf(tool)
  const effect = args === undefined ? tool.effect : (tool.effectFor?.(args) ?? tool.effect)
  const asked = { tool: tool.id, effect, danger }
  const verdict =
    args === undefined
      ? decideEarly({ ...asked, effects }, permissions, rules)
      : decide({ ...asked, args }, permissions, rules)
  const { action: then, because } = verdict ?? { action: null, because: dependsOn(tool) }
  const isUnseen = comparesArguments(rules.filter((rule) => isAbout(rule, asked)))
  return {
    tool: tool.id,
    effect,
    ...(args === undefined && effects !== undefined && { effects }),
    effectFrom,
    danger,
    then,
    because,
    ...(isUnseen && { notCovered }),
  }
}

function dependsOn({ effects }: Tool): string {
  if (effects === undefined) return 'a rule asks for its arguments: give them as JSON'
  return `its class depends on its arguments (${effects.join(', ')}): give them as JSON`
}
