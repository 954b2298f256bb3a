/** Commands about tools: what there is, what fits, and what would decide about a call. */
import type { Catalog } from '#catalog'
import { AppError, type Json, type JsonObject, type Tool, type ToolDiff } from '#model'
import { dangerOf, decide, standingRules } from '#run'
import type { Command } from './command.ts'
import { exit } from './exit.ts'
import { bad, faint, good, oneLine, strong, table, warn } from './paint.ts'

export const catalogCommands: Record<string, Command> = {
  discover: {
    group: 'Use',
    usage: 'discover INTENT [--limit N] [--server NAME] [--schemas]',
    does: 'find tools for what you want to do',
    options: { limit: { type: 'string' }, server: { type: 'string' }, schemas: { type: 'boolean' } },
    words: [1, 1],
    run: async ({ verbs, words, options, caller, json, print }) => {
      const { limit, server, schemas } = options
      const input = {
        intent: words[0],
        ...(limit === undefined ? {} : { limit: Number(limit) }),
        ...(server === undefined ? {} : { filter: { server } }),
        ...(schemas === undefined ? {} : { schemas }),
      }
      const answer = await (await verbs()).discover(input, caller)
      print(json ? JSON.stringify(answer) : found(answer))
      return exit.done
    },
  },
  tools: {
    group: 'Look',
    usage: 'tools [SERVER]',
    does: 'every tool with its effect class',
    words: [0, 1],
    run: async ({ verbs, words, json, print, note }) => {
      const { catalog, tools } = await verbs()
      const list = await tools(words[0])
      const { problems } = await catalog.tools()
      if (json) print(JSON.stringify(list))
      else
        print(
          table(
            list.map(({ id, effect, effectFrom, changed, description }) => [
              String(id),
              `${effect}`,
              faint(`(${effectFrom})`),
              changed === undefined ? oneLine(String(description), 70) : warn(`changed: metier accept ${id}`),
            ]),
          ),
        )
      for (const { id, changed } of list)
        if (changed !== undefined) note([`${warn('!')} ${id} is not what it was:`, ...changes(changed)].join('\n'))
      for (const { server, error } of problems) note(`${bad('✗')} ${server}: ${error.message}`)
      return exit.done
    },
  },
  accept: {
    group: 'Decide',
    usage: 'accept TOOL',
    does: 'let a tool count as it is now, after its definition changed',
    words: [1, 1],
    run: async ({ verbs, words, caller, json, print }) => {
      const { catalog } = await verbs()
      const tool = await toolNamed(catalog, words[0]!, 'accept')
      const diff = await catalog.accept(tool, caller.actor.name)
      if (json) print(JSON.stringify({ tool: tool.id, digest: tool.digest, diff }))
      else if (diff.length === 0) print(`${tool.id} is as it was: there is nothing to accept`)
      else print([`${good('✓')} ${tool.id} is accepted as it is now`, ...changes(diff)].join('\n'))
      return exit.done
    },
  },
  servers: {
    group: 'Look',
    usage: 'servers',
    does: 'the upstream servers and whether they answer',
    words: [0, 0],
    run: async ({ verbs, config, json, print }) => {
      const { catalog } = await verbs()
      const { tools, problems } = await catalog.tools({ refresh: true })
      const rows = Object.entries(config.servers).map(([server, { type }]) => {
        const problem = problems.find((candidate) => candidate.server === server)
        const count = tools.filter((tool) => tool.server === server).length
        return {
          server,
          type,
          ok: problem === undefined,
          tools: count,
          ...(problem === undefined ? {} : { error: problem.error.toJSON() }),
        }
      })
      if (json) print(JSON.stringify(rows))
      else if (rows.length === 0) print('No server is configured. Name some under "mcpServers" in metier.json.')
      else
        print(
          table(
            rows.map(({ server, type, ok, tools, error }) => [
              `${ok ? good('✓') : bad('✗')} ${server}`,
              type,
              `${tools} tools`,
              error?.message ?? '',
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
    words: [1, 2],
    run: async ({ verbs, config, words, json, print }) => {
      const [id, text] = words
      const { catalog, store } = await verbs()
      const tool = await toolNamed(catalog, id!, 'explain')
      const args = text === undefined ? {} : (JSON.parse(text) as Json)
      const { permissions } = config.policy
      const rules = [...config.policy.rules, ...standingRules(store)]
      const danger = dangerOf(tool)
      const verdict = decide({ tool: tool.id, effect: tool.effect, danger, args }, permissions, rules)
      const effect = { effect: tool.effect, effectFrom: tool.effectFrom, danger }
      if (json) print(JSON.stringify({ tool: tool.id, ...effect, ...verdict }))
      else {
        const said = danger === null ? '' : `, and dangerous: ${danger}`
        print(
          `${strong(verdict.then)}: ${verdict.because} (${tool.id} is "${tool.effect}" by ${tool.effectFrom}${said})`,
        )
      }
      return exit.done
    },
  },
}

async function toolNamed(catalog: Catalog, id: string, verb: string): Promise<Tool> {
  const tool = await catalog.tool(id)
  if (tool !== undefined) return tool
  const missing = new AppError('TOOL_NOT_FOUND', `Cannot ${verb} "${id}": there is no such tool`, { tool: id })
  throw catalog.problemOfServer(id) ?? missing
}

function changes(diff: unknown): string[] {
  const side = (mark: string, value: unknown) =>
    value === undefined ? [] : [`      ${mark} ${oneLine(JSON.stringify(value), 160)}`]
  return (diff as ToolDiff).flatMap(({ field, before, after }) => [
    `    ${field.slice(1)}`,
    ...side('-', before),
    ...side('+', after),
  ])
}

function found({ status, results, unmatched, nearest }: JsonObject): string {
  if (status === 'nothing_fits') {
    const close = nearest as string[]
    const words = unmatched as string[]
    const hint = words.length === 0 ? '' : ` No tool knows: ${words.join(', ')}.`
    return `Nothing fits.${hint}${close.length === 0 ? '' : ` Nearest: ${close.join(', ')}.`}`
  }
  return (results as Record<string, string | number>[])
    .map(({ id, score, description, input, effect, why }) =>
      [
        `${strong(String(id))} ${faint(`${Number(score).toFixed(2)} · ${effect}`)}`,
        `  ${oneLine(String(description))}`,
        `  ${input}`,
        faint(`  ${why}`),
      ].join('\n'),
    )
    .join('\n')
}
