/** Commands that run something or look at what ran. */
import { escapeInvisible, isFinished, type JsonObject, limits, splitToolId } from '#model'
import { askWhileWaiting } from '#show/approvals'
import {
  type Command,
  type Context,
  counted,
  exit,
  jsonArgument,
  numberOption,
  summary,
  UsageError,
  writeTo,
} from '#show/cli'
import { printAnswer, timeline } from '#show/text'
import { type Exploration, mayCallLines, type Verbs } from '#verbs'
import { runs } from './runs-command.ts'

const output = { type: 'string', short: 'o' } as const

export const runCommands: Record<string, Command> = {
  execute: {
    group: 'Use',
    usage:
      'execute [INTENT] [--code FILE|-] [--dag FILE|-] [--args JSON] [--dry-run|--explore [--max-branches N]] [--mocks FILE] [--wait SECONDS] [--key KEY] [-o FILE]',
    does: 'run a program or a graph of tasks; an intent alone gets a suggestion',
    options: {
      code: { type: 'string' },
      dag: { type: 'string' },
      cap: { type: 'string' },
      output,
      args: { type: 'string' },
      wait: { type: 'string' },
      key: { type: 'string' },
      permissions: { type: 'string' },
      'dry-run': { type: 'boolean' },
      explore: { type: 'boolean' },
      'max-branches': { type: 'string' },
      mocks: { type: 'string' },
    },
    words: [0, 1],
    run: async (context) => {
      const { options, words } = context
      const { key, permissions, explore } = options
      const wait = numberOption(options, 'wait')
      if (explore === true && options['dry-run'] === true) throw new UsageError('give only one of --dry-run, --explore')
      const branches = numberOption(options, 'max-branches')
      const input = {
        ...(words[0] === undefined ? {} : { intent: words[0] }),
        ...(await implementation(context)),
        ...(options.args === undefined ? {} : { args: jsonArgument('--args', options.args) }),
        ...(key === undefined ? {} : { key }),
        ...(permissions === undefined ? {} : { permissions }),
        ...(wait === undefined ? {} : { wait }),
        ...(options['dry-run'] === true ? { mode: 'dry-run' } : {}),
        ...(explore === true ? { mode: 'explore' } : {}),
        ...(branches === undefined ? {} : { maxBranches: branches }),
        ...(typeof options.mocks === 'string'
          ? { mocks: jsonArgument('--mocks', await context.readFile(options.mocks)) }
          : {}),
      }
      if (Object.keys(input).length === 0) throw new UsageError(`usage: metier ${runCommands.execute!.usage}`)
      const verbs = await context.verbs()
      const pending = verbs.execute(input, context.caller)
      return explore === true && !context.json
        ? explored(context, verbs, await pending)
        : printAnswer(context, askWhileWaiting(context, pending))
    },
  },
  call: {
    group: 'Use',
    usage: 'call TOOL [JSON] [-o FILE]',
    does: 'call one tool, as a run of one call',
    options: { output },
    words: [1, 2],
    run: async (context) => {
      const [tool, text] = context.words
      if (splitToolId(tool!) === null)
        throw new UsageError(`Cannot call "${tool}": a tool is named server:name; "metier tools" lists them`)
      const tasks = [
        { id: 'call', tool, arguments: { $literal: text === undefined ? {} : jsonArgument('JSON', text) } },
      ]
      const input = { intent: `call ${tool}`, implementation: { type: 'dag', tasks } }
      return printAnswer(context, askWhileWaiting(context, (await context.verbs()).execute(input, context.caller)))
    },
  },
  result: {
    group: 'Use',
    usage: 'result RUN [--call N] [--path P] [--offset N] [--limit N] [--format json|text|keys] [-o FILE]',
    does: 'the whole of a result: a page at a time at a terminal, all of it into a pipe or a file',
    options: {
      output,
      call: { type: 'string' },
      path: { type: 'string' },
      offset: { type: 'string' },
      limit: { type: 'string' },
      format: { type: 'string' },
    },
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      if (wantsWhole(context)) return printWhole(context)
      const { call, path, format } = context.options
      const input = {
        run: context.words[0],
        call,
        path,
        format,
        offset: numberOption(context.options, 'offset'),
        limit: numberOption(context.options, 'limit'),
      }
      const page = await (await context.record()).result(defined(input), context.caller)
      context.print(
        context.json ? JSON.stringify(page) : String(page.text ?? escapeInvisible(JSON.stringify(page.value, null, 2))),
      )
      if (page.next !== null) context.note(`… more: --offset ${page.next}`)
      if (page.digest === null)
        context.note(`The run is ${page.status}: it has no result. See "metier run show ${page.run}"`)
      return exit.done
    },
  },
  runs,
  'run show': {
    group: 'Look',
    usage: 'run show RUN',
    does: 'a run with its plan, its calls and their times',
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      const record = await context.record()
      const run = await record.run(context.words[0]!)
      const isOver = isFinished(run.status)
      const learned = context.json && isOver ? (await record.learning()).aboutRun(context.words[0]!) : {}
      context.print(context.json ? JSON.stringify({ ...run, ...learned }) : timeline(run))
      return exit.done
    },
  },
  'run resume': {
    group: 'Use',
    usage: 'run resume RUN',
    does: 'go on with an interrupted run, from the record',
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      const resumed = (await context.verbs()).resume(context.words[0]!, context.caller)
      return printAnswer(context, askWhileWaiting(context, resumed))
    },
  },
  'run fork': {
    group: 'Use',
    usage: 'run fork RUN --at N [--args JSON]',
    does: 'go another way from call N on: earlier results are reused, N gets the arguments',
    options: { at: { type: 'string' }, args: { type: 'string' } },
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      const { args } = context.options
      const at = numberOption(context.options, 'at', 1)
      if (at === undefined) throw new UsageError('say from which call on: --at N')
      const edited = args === undefined ? undefined : jsonArgument('--args', args)
      return printAnswer(context, (await context.verbs()).fork(context.words[0]!, at, edited, context.caller))
    },
  },
  'run replay': {
    group: 'Keep',
    usage: 'run replay RUN',
    does: 'run the program against its record and compare; nothing is called',
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      const replayed = await (await context.verbs()).replay(context.words[0]!)
      const { ok, calls, error } = replayed as { ok: boolean; calls: number; error?: { message: string } }
      if (context.json) context.print(JSON.stringify(replayed))
      else context.print(ok ? `${counted(calls, 'call')}, the same as recorded` : escapeInvisible(error!.message))
      return ok ? exit.done : exit.failed
    },
  },
  'run cancel': {
    group: 'Use',
    usage: 'run cancel RUN [--reason TEXT]',
    does: 'end a run; what was sent is awaited and recorded',
    options: { reason: { type: 'string' } },
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      const reason = context.options.reason as string | undefined
      const verbs = await context.verbs()
      return printAnswer(context, verbs.cancel(context.words[0]!, context.caller, reason), () => exit.done)
    },
  },
}

/** A page is for who reads it, or asked for one; a pipe and a file take everything. */
function wantsWhole({ options, json, isTerminal }: Context): boolean {
  const { offset, limit, format, output } = options
  return output !== undefined || (!json && !isTerminal && [offset, limit, format].every((given) => given === undefined))
}

async function printWhole(context: Context): Promise<number> {
  const { call, path, output } = context.options
  const text = await (await context.record()).resultText(defined({ run: context.words[0], call, path }))
  if (typeof output === 'string') writeTo(output, `${text}\n`)
  else context.print(text)
  return exit.done
}

/** The picture of what was found; the whole of it is the run's result. */
async function explored(context: Context, verbs: Verbs, value: JsonObject): Promise<number> {
  if (value.status !== 'done') return printAnswer(context, Promise.resolve(value))
  const { value: found } = await verbs.result({ run: value.run, limit: limits.exploreBranchesMax }, context.caller)
  const { exploreTree } = await import('./explore-tree.ts')
  context.print(exploreTree(found as Exploration))
  for (const line of mayCallLines(value)) context.note(line)
  context.note(summary(value))
  return exit.done
}

async function implementation({ options, stdin, readFile }: Context): Promise<object> {
  const read = (from: string) => (from === '-' ? stdin() : readFile(from))
  const { code, dag, cap } = options
  if ([code, dag, cap].filter((given) => given !== undefined).length > 1)
    throw new UsageError('give only one of --code, --dag, --cap')
  if (typeof code === 'string') return { implementation: { type: 'code', code: await read(code) } }
  if (typeof cap === 'string') return { implementation: { type: 'capability', id: cap } }
  if (typeof dag !== 'string') return {}
  const graph = jsonArgument('--dag', await read(dag))
  return { implementation: { type: 'dag', ...(Array.isArray(graph) ? { tasks: graph } : (graph as object)) } }
}

function defined<Input extends Record<string, unknown>>(input: Input): Input {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Input
}
