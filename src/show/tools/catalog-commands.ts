/** Commands about tools: what there is, what fits, and what would decide about a call. */
import { AppError, builtInServer, escapeInvisible, type Json, type JsonObject, limits, type ToolDiff } from '#model'
import {
  bad,
  type Command,
  type Context,
  counted,
  exit,
  faint,
  good,
  numberOption,
  oneLine,
  jsonArgument as readJson,
  strong,
  table,
  UsageError,
  warn,
} from '#show/cli'
import { attentionLine } from '#show/learn'
import { discoverText } from './discover-text.ts'
import { toolDiffText } from './tool-diff-text.ts'

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
      const intent = words.join(' ')
      if (intent.trim() === '') throw new UsageError('say in a few words what you want to do: metier discover INTENT')
      const input = {
        intent,
        ...(limit === undefined ? {} : { limit }),
        ...(server === undefined ? {} : { filter: { server } }),
        ...(schemas === undefined ? {} : { schemas }),
      }
      const { discover, serverProblem } = await verbs()
      const answer = await discover(input, caller)
      print(json ? JSON.stringify(answer) : discoverText(answer))
      if (Object.keys(config.servers).length === 0) note(noServers)
      for (const name of Object.keys(config.servers)) {
        const problem = serverProblem(name)
        if (problem !== null) note(`${bad('✗')} ${problem.message}`)
      }
      return exit.done
    },
  },
  why: {
    group: 'Look',
    usage: 'why INTENT',
    does: 'what execute would do with an intent alone, and why',
    looks: true,
    words: [1, 100],
    run: async ({ verbs, words, caller, json, print }) => {
      const answer = await (await verbs()).why(words.join(' '), caller)
      const rows = answer.candidates.map(({ id, score, parts }) => [id, String(score), partsText(parts)])
      print(
        json
          ? JSON.stringify(answer)
          : [answer.decision, answer.reason, table(rows), attentionLine(answer.attention)].join('\n'),
      )
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
          note(
            [
              `${warn('!')} ${escapeInvisible(String(id))} is not what it was:`,
              ...toolDiffText(changed as ToolDiff),
            ].join('\n'),
          )
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
      const { toAccept, accept } = await verbs()
      const all = /^([^:]+):\*$/.exec(words[0]!)?.[1]
      checkServer(context, all)
      const tools = await toAccept(words[0]!)
      const accepted: JsonObject[] = []
      for (const tool of tools) {
        const diff = await accept(tool, caller)
        accepted.push({ tool: tool.id, digest: tool.digest, diff: diff as Json })
        if (json) continue
        if (diff.length === 0) print(`${tool.id} is as it was: there is nothing to accept`)
        else print([`${good('✓')} ${tool.id} is accepted as it is now`, ...toolDiffText(diff)].join('\n'))
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
      const checks = (await (await verbs()).checkServers()).slice(0, -1)
      const rows = checks.map(({ server, era, tools, problem }) => {
        const definition = config.servers[server]!
        return {
          server,
          type: definition.type,
          protocol: era,
          sandbox: definition.type === 'stdio' ? definition.sandbox : null,
          ok: problem === null,
          tools: tools.length,
          ...(problem === null ? {} : { error: problem.toJSON() }),
        }
      })
      if (json) print(JSON.stringify(rows))
      else if (rows.length === 0) print(noServers)
      else
        print(
          table(
            rows.map(({ server, type, ok, tools, error }, at) => [
              `${ok ? good('✓') : bad('✗')} ${server}`,
              type,
              ok ? counted(tools, 'tool') : '',
              error?.message ?? faint(checks[at]!.box),
            ]),
          ),
        )
      return checks.every(({ problem }) => problem === null) ? exit.done : exit.unreachable
    },
  },
  'policy explain': {
    group: 'Decide',
    usage: 'policy explain TOOL [JSON]',
    does: 'which line decides about a call, and why',
    looks: true,
    words: [1, 2],
    run: async ({ verbs, words, json, print }) => {
      const [id, text] = words
      const args = text === undefined ? undefined : readJson('JSON', text)
      const said = await (await verbs()).explain(id!, args)
      const { tool, effect, effects = [effect], effectFrom, danger, then, because, notCovered } = said
      if (json) print(JSON.stringify(said))
      else {
        const dangerous = danger === null ? '' : `, and dangerous: ${danger}`
        print(
          `${strong(then ?? 'it depends')}: ${because} (${escapeInvisible(tool)} is "${effects.join('" or "')}" by ${effectFrom}${dangerous})`,
        )
        if (notCovered !== undefined) print(faint(`not covered: ${notCovered.join('; ')} (docs/policy.md)`))
      }
      return exit.done
    },
  },
}

const noServers =
  'No server is configured. "metier init" copies those that other hosts know, "metier add" puts one in; or name some under "mcpServers" in metier.json.'

function checkServer({ config }: Context, server: string | undefined): void {
  const known = [...Object.keys(config.servers), builtInServer]
  if (server === undefined || known.includes(server)) return
  const message = `Cannot find the server "${server}": the configuration does not name it; there is ${known.join(', ')}`
  throw new AppError('CONFIG_INVALID', message, { server })
}

function toolRow({ id, effect, effects, effectFrom, changed, description }: JsonObject): string[] {
  const about =
    changed === undefined
      ? oneLine(String(description), 70)
      : warn(`changed: metier accept ${escapeInvisible(String(id))}`)
  return [
    escapeInvisible(String(id)),
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

/** What speaks for a candidate, in the order of the answer. */
const partsText = (parts: object) =>
  Object.entries(parts)
    .filter(([, value]) => typeof value === 'number' && value > 0)
    .map(([name, value]) => `${name} ${Number(value).toFixed(2)}`)
    .join('  ')
