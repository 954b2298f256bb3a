/** Commands about what was learned: what there is, and what a person decides of it. */
import { writeFile } from 'node:fs/promises'
import type { Json, JsonObject } from '#model'
import { type Command, type Commands, type Context, exit, faint, oneLine, strong, table, UsageError } from '#show/cli'

const statuses = ['candidate', 'verified', 'stale', 'demoted', 'disabled']

export const capabilityCommands: Commands = {
  capabilities: {
    group: 'Look',
    usage: `capabilities [--status ${statuses.join('|')}]`,
    does: 'what was learned from runs that went well',
    options: { status: { type: 'string' } },
    looks: true,
    words: [0, 0],
    run: async ({ verbs, options, json, print, note }) => {
      const { status } = options
      if (status !== undefined && !statuses.includes(String(status))) {
        throw new UsageError(`--status takes ${statuses.join(', ')}, not "${status}"`)
      }
      const list = (await verbs()).capabilities(status === undefined ? undefined : String(status))
      if (json) print(JSON.stringify(list))
      else if (list.length > 0) print(table(list.map(row)))
      else note('Nothing was learned yet: runs with an intent teach, when they went well.')
      return exit.done
    },
  },
  'capabilities show': about('show ID', 'its source, parameters, versions and executions', async ({ verbs, words }) =>
    (await verbs()).capability(words[0]!),
  ),
  'capabilities verify': {
    ...about('verify ID', 'hold it against the runs that it was learned from', async () => ({})),
    run: async ({ verbs, words, json, print }) => {
      const { id, ok, why, runs } = (await (await verbs()).verifyCapability(words[0]!)) as Verified
      const said = ok ? `${id} does what ${runs.length} of its runs did` : `${id} is not verified: ${why}`
      print(json ? JSON.stringify({ id, ok, why, runs }) : said)
      return ok ? exit.done : exit.failed
    },
  },
  'capabilities disable': decision('disable', 'disabled', 'offer and call it no more'),
  'capabilities enable': decision('enable', 'enabled', 'let it be offered and called again'),
  'capabilities forget': decision('forget', 'forgotten', 'remove it for good: its program is not learned again'),
  'capabilities export': {
    ...about('export ID [-o FILE]', 'write it to a file, without secrets', async () => ({})),
    options: { output: { type: 'string', short: 'o' } },
    run: async ({ verbs, words, options, print, note }) => {
      const text = JSON.stringify((await verbs()).exportCapability(words[0]!), null, 2)
      if (options.output === undefined) print(text)
      else {
        await writeFile(String(options.output), `${text}\n`)
        note(`Written to ${options.output}`)
      }
      return exit.done
    },
  },
  'capabilities import': about(
    'import FILE',
    'take one from a file; a candidate until verified here',
    async (context) => (await context.verbs()).importCapability(await readDocument(context)),
  ),
}

type Verified = { id: string; ok: boolean; why: string | null; runs: string[] }

/** One that prints one document. */
function about(usage: string, does: string, answer: (context: Context) => Promise<JsonObject>): Command {
  return {
    group: 'Decide',
    usage: `capabilities ${usage}`,
    does,
    words: [1, 1],
    run: async (context) => {
      const said = await answer(context)
      context.print(context.json ? JSON.stringify(said) : JSON.stringify(said, null, 2))
      return exit.done
    },
  }
}

function decision(word: string, status: 'disabled' | 'enabled' | 'forgotten', does: string): Command {
  const decide = async ({ verbs, words, caller }: Context) =>
    (await verbs()).decideCapability(words[0]!, status, caller)
  return about(`${word} ID`, does, decide)
}

async function readDocument({ readFile, words }: Context): Promise<Json> {
  const text = await readFile(words[0]!)
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new UsageError(`${words[0]} is no JSON: ${(error as Error).message}`)
  }
}

function row({ id, version, status, intent, executionCount, confidence }: JsonObject): string[] {
  const uses = executionCount === 0 ? faint('not used yet') : `${executionCount} uses, ${confidence}`
  return [`${strong(String(id))}@${version}`, String(status), uses, oneLine(String(intent), 60)]
}
