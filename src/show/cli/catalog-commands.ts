/** Commands about tools: what there is, what fits, and what would decide about a call. */
import type { Catalog } from '#catalog'
import { AppError, builtInServer, type Json, type JsonObject, limits, type Tool, type ToolDiff, visible } from '#model'
import { changes } from './changes.ts'
import { type Command, type Context, numberOption } from './command.ts'
import { discovered } from './discovered.ts'
import { exit } from './exit.ts'
import { bad, counted, faint, good, oneLine, strong, table, warn } from './paint.ts'
import { json as readJson } from './run-commands.ts'

export const catalogCommands: Record<string, Command> = {
  discover: {
    group: 'Use',
    usage: 'discover INTENT [--limit N] [--server NAME] [--schemas]',
    does: 'find tools for what you want to do',
    options: { limit: { type: 'string' }, server: { type: 'string' }, schemas: { type: 'boolean' } },
    looks: true,
    words: [1, 100],
    run: async ({ verbs, words, options, caller, json, print, note, config }) => {
      const { server, schemas } = options
      const limit = numberOption(options, 'limit', 1, limits.discoverLimitMax)
      const input = {
        intent: words.join(' '),
        ...(limit === undefined ? {} : { limit }),
        ...(server === undefined ? {} : { filter: { server } }),
        ...(schemas === undefined ? {} : { schemas }),
      }
      const { discover, catalog } = await verbs()
      const answer = await discover(input, caller)
      print(json ? JSON.stringify(answer) : discovered(answer))
      if (Object.keys(config.servers).length === 0) note(noServers)
      for (const name of Object.keys(config.servers)) {
        const problem = catalog.problemOfServer(`${name}:*`)
        if (problem !== null) note(`${bad('✗')} ${problem.message}`)
      }
      return exit.done
    },
  },
  tools: {
    group: 'Look',
    usage: 'tools [SERVER]',
    does: 'every tool with its effect class',
    looks: true,
    words: [0, 1],
    run: async (context) => {
      const { verbs, words, json, print, note } = context
      checkServer(context, words[0])
      const { tools: list, problems } = await (await verbs()).tools(words[0], limits.firstListMsMax)
      if (json) print(JSON.stringify(list))
      else if (list.length > 0) print(table(list.map(toolRow)))
      for (const { id, changed } of list)
        if (changed !== undefined)
          note([`${warn('!')} ${visible(String(id))} is not what it was:`, ...changes(changed as ToolDiff)].join('\n'))
      for (const { error } of problems) note(`${bad('✗')} ${error.message}`)
      if (Object.keys(context.config.servers).length === 0) note(noServers)
      else note(faint(`${summaryOf(list)}${boxesOf(context, words[0])}`))
      return problems.length === 0 ? exit.done : exit.unreachable
    },
  },
  accept: {
    group: 'Decide',
    usage: 'accept TOOL | SERVER:*',
    does: 'let a tool, or all of a server, count as it is now, after its definition changed',
    words: [1, 1],
    run: async (context) => {
      const { verbs, words, caller, json, print } = context
      const { catalog } = await verbs()
      const all = /^([^:]+):\*$/.exec(words[0]!)?.[1]
      checkServer(context, all)
      const tools = all === undefined ? [await toolNamed(catalog, words[0]!, 'accept')] : await changedOf(catalog, all)
      const accepted: JsonObject[] = []
      for (const tool of tools) {
        const diff = await catalog.accept(tool, caller.actor.name)
        accepted.push({ tool: tool.id, digest: tool.digest, diff: diff as unknown as Json })
        if (json) continue
        if (diff.length === 0) print(`${tool.id} is as it was: there is nothing to accept`)
        else print([`${good('✓')} ${tool.id} is accepted as it is now`, ...changes(diff)].join('\n'))
      }
      if (json) print(JSON.stringify(all === undefined ? accepted[0] : accepted))
      else if (tools.length === 0) print(`Every tool of ${all} is as it was: there is nothing to accept`)
      return exit.done
    },
  },
  servers: {
    group: 'Look',
    usage: 'servers',
    does: 'the upstream servers and whether they answer',
    looks: true,
    words: [0, 0],
    run: async ({ verbs, config, json, print }) => {
      const { catalog } = await verbs()
      const { boxWords } = await import('#catalog')
      const { tools, problems } = await catalog.tools({ refresh: true })
      const rows = Object.entries(config.servers).map(([server, definition]) => {
        const { type } = definition
        const problem = problems.find((candidate) => candidate.server === server)
        const count = tools.filter((tool) => tool.server === server).length
        return {
          server,
          type,
          protocol: catalog.eraOf(server),
          sandbox: definition.type === 'stdio' ? definition.sandbox : null,
          ok: problem === undefined,
          tools: count,
          ...(problem === undefined ? {} : { error: problem.error.toJSON() }),
        }
      })
      if (json) print(JSON.stringify(rows))
      else if (rows.length === 0) print(noServers)
      else
        print(
          table(
            rows.map(({ server, type, ok, tools, error }) => [
              `${ok ? good('✓') : bad('✗')} ${server}`,
              type,
              ok ? counted(tools, 'tool') : '',
              error?.message ?? faint(boxWords(config.servers[server]!)),
            ]),
          ),
        )
      return problems.length === 0 ? exit.done : exit.unreachable
    },
  },
  'policy explain': {
    group: 'Decide',
    usage: 'policy explain TOOL [JSON]',
    does: 'which line decides about a call, and why',
    looks: true,
    words: [1, 2],
    run: async ({ verbs, config, words, json, print }) => {
      const judge = await import('#run')
      const [id, text] = words
      const { catalog, store } = await verbs()
      const tool = await toolNamed(catalog, id!, 'explain')
      const args = text === undefined ? undefined : readJson('JSON', text)
      const { permissions } = config.policy
      const rules = [...config.policy.rules, ...judge.standingRules(store, permissions)]
      const danger = judge.dangerOf(tool)
      const { effects } = tool
      const effectNow = args === undefined ? tool.effect : (tool.effectFor?.(args) ?? tool.effect)
      const asked = { tool: tool.id, effect: effectNow, danger }
      const verdict =
        args === undefined
          ? judge.decideEarly({ ...asked, effects }, permissions, rules)
          : judge.decide({ ...asked, args }, permissions, rules)
      const { then, because } = verdict ?? { then: null, because: dependsOn(tool) }
      const isOpen = args === undefined && effects !== undefined
      const effect = { effect: effectNow, ...(isOpen && { effects }), effectFrom: tool.effectFrom, danger }
      const isUnseen = judge.comparesArguments(rules.filter((rule) => judge.isAbout(rule, asked)))
      const unseen = isUnseen ? { notCovered: judge.notCovered } : {}
      if (json) print(JSON.stringify({ tool: tool.id, ...effect, then, because, ...unseen }))
      else {
        const said = danger === null ? '' : `, and dangerous: ${danger}`
        print(
          `${strong(then ?? 'it depends')}: ${because} (${visible(tool.id)} is "${isOpen ? effects.join('" or "') : effectNow}" by ${tool.effectFrom}${said})`,
        )
        if ('notCovered' in unseen) print(faint(`not covered: ${judge.notCovered.join('; ')} (docs/policy.md)`))
      }
      return exit.done
    },
  },
}

function dependsOn({ effects }: Tool): string {
  if (effects === undefined) return 'a rule asks for its arguments: give them as JSON'
  return `its class depends on its arguments (${effects.join(', ')}): give them as JSON`
}

const noServers =
  'No server is configured. "metier init" copies those that other hosts know, "metier add" puts one in; or name some under "mcpServers" in metier.json.'

function checkServer({ config }: Context, server: string | undefined): void {
  const known = [...Object.keys(config.servers), builtInServer]
  if (server === undefined || known.includes(server)) return
  const message = `Cannot find the server "${server}": the configuration does not name it; there is ${known.join(', ')}`
  throw new AppError('CONFIG_INVALID', message, { server })
}

/** As the server has them now, not as we remember them. */
async function changedOf(catalog: Catalog, server: string): Promise<Tool[]> {
  const { tools, problems } = await catalog.tools({ server, refresh: true })
  if (problems.length > 0) throw problems[0]!.error
  return tools.filter((tool) => catalog.changeOf(tool) !== null)
}

function toolRow({ id, effect, effects, effectFrom, changed, description }: JsonObject): string[] {
  const about =
    changed === undefined ? oneLine(String(description), 70) : warn(`changed: metier accept ${visible(String(id))}`)
  return [
    visible(String(id)),
    Array.isArray(effects) ? effects.join('|') : String(effect),
    faint(`(${effectFrom})`),
    about,
  ]
}

function summaryOf(list: readonly JsonObject[]): string {
  const changed = list.filter(({ changed }) => changed !== undefined).length
  return `${counted(list.length, 'tool')}${changed === 0 ? '' : `, ${changed} of them changed since they were accepted`}`
}

/** Which servers of this machine are in a box, by name. */
function boxesOf({ config }: Context, only: string | undefined): string {
  const here = Object.entries(config.servers).filter(([name, { type }]) => type === 'stdio' && (only ?? name) === name)
  const isBoxed = ([, server]: (typeof here)[number]) => server.type === 'stdio' && server.sandbox !== null
  const listed = (what: string, some: typeof here) =>
    some.length === 0 ? '' : `; ${what}: ${some.map(([name]) => name).join(', ')}`
  const free = here.filter((one) => !isBoxed(one))
  return `${listed('in a box', here.filter(isBoxed))}${listed('unconfined', free)}`
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
