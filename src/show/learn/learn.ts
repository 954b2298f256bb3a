/** Commands about what was learned: `learn status`, `learn rebuild` and `graph`. */
import { AppError } from '#model'
import { type Command, type Context, exit, findId } from '#show/cli'

export const learnCommands: Record<string, Command> = {
  'learn status': {
    group: 'Look',
    usage: 'learn status',
    does: 'how far the record was learned from, and what is known',
    looks: true,
    words: [0, 0],
    run: async (context) => show(context, await (await learning(context)).status()),
  },
  'learn rebuild': {
    group: 'Keep',
    usage: 'learn rebuild',
    does: 'make all that was learned again from the record',
    words: [0, 0],
    run: async (context) => show(context, await (await learning(context)).rebuild()),
  },
  graph: {
    group: 'Look',
    usage: 'graph [--view definition|invocation] [--run RUN] [--format json|mermaid|dot|cytoscape]',
    does: 'tools and capabilities with what they are to each other, or the calls of one run',
    options: { view: { type: 'string' }, run: { type: 'string' }, format: { type: 'string' } },
    looks: true,
    words: [0, 0],
    run: async (context) => {
      const { view, run, format } = read(context)
      const id = view === 'definition' ? undefined : await findId(context, 'run', run ?? '@last')
      const { graphText } = await import('./graph-text.ts')
      const graph = await (await learning(context)).graph(id)
      context.print(graphText(graph, context.json ? 'json' : format))
      return exit.done
    },
  },
}

const learning = async (context: Context) => (await context.record()).learning()

const graphFormats = ['json', 'mermaid', 'dot', 'cytoscape'] as const

type GraphRequest = { view: string; run?: string; format: (typeof graphFormats)[number] }

function read({ options }: Context): GraphRequest {
  const { run, view = run === undefined ? 'definition' : 'invocation', format = 'json' } = options
  const views = ['definition', 'invocation']
  if (!views.includes(String(view))) throw refused('--view', views)
  const form = graphFormats.find((one) => one === format)
  if (form === undefined) throw refused('--format', graphFormats)
  return { view: String(view), format: form, ...(run === undefined ? {} : { run: String(run) }) }
}

function refused(param: string, words: readonly string[]): AppError {
  const details = `one of ${words.join(', ')}`
  return new AppError('INVALID_INPUT_PARAM', `Cannot show the graph: "${param}" must be ${details}`, { param, details })
}

function show({ json, print }: Context, status: { [name: string]: unknown }): number {
  if (json) print(JSON.stringify(status))
  else {
    const rows = Object.entries(status.rows as Record<string, number>).map(([kind, count]) => `${kind} ${count}`)
    const { enabled, n, of, digest } = status
    print(`${enabled ? 'learning' : 'switched off (learn.enabled)'}: ${n} of ${of} events of the home folded`)
    print(`${rows.join(', ')}\ndigest ${digest}`)
    print(confidenceLine(status.confidence as Calibration))
    print(plannerLine(status.planner as PlannerReport))
    print(attentionLine(status.attention as AttentionReport))
  }
  return exit.done
}

type Calibration = { cases: number; ece: number | null; curve: { confidence: number; accuracy: number }[] }

/** What was said against what came true, from the least sure to the surest. */
function confidenceLine({ cases, ece, curve }: Calibration): string {
  if (ece === null) return 'confidence: no intent was foreseen yet'
  const points = curve.map(({ confidence, accuracy }) => `${confidence.toFixed(2)}→${accuracy.toFixed(2)}`)
  return `confidence: calibration error ${ece.toFixed(3)} over ${cases} cases; said→came true: ${points.join(' ')}`
}

export type AttentionReport = {
  state: string
  why: string
  judgedAt: number
  heldOut: number
  with: number | null
  without: number | null
}

export type PlannerReport = Omit<AttentionReport, 'judgedAt'> & { fittedAt: number }

/** Whether the planner foresees tools, and what it was found to be worth. */
export function plannerLine({ state, why, fittedAt, heldOut, with: ours, without }: PlannerReport): string {
  const share = (value: number) => (100 * value).toFixed(1)
  const figures =
    ours === null || without === null
      ? ''
      : `; F1 of the tools ${share(ours)} with it, ${share(without)} without, on ${heldOut} intents at ${fittedAt} runs`
  return `planner ${state}: ${why}${figures}`
}

/** Whether attention ranks, and what it was found to be worth. */
export function attentionLine({ state, why, judgedAt, heldOut, with: ours, without }: AttentionReport): string {
  const share = (value: number) => (100 * value).toFixed(1)
  const figures =
    ours === null || without === null
      ? ''
      : `; nDCG@10 ${share(ours)} with it, ${share(without)} without, on ${heldOut} later intents at ${judgedAt} runs`
  return `attention ${state}: ${why}${figures}`
}
