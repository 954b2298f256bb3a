/** Missions and tasks at a terminal: what there is, what may begin, and one of them whole. */
import { AppError, limits } from '#model'
import { type Command, type Context, exit, findId, numberOption } from '#show/cli'
import { missionRows, missionTree, taskRows, taskText } from './task-text.ts'

const listing = { status: { type: 'string' }, limit: { type: 'string' } } as const

export const taskCommands: Record<string, Command> = {
  missions: {
    group: 'Look',
    usage: 'missions [--runs] [--status S] [--limit N]',
    does: 'the missions of the task graph, with how far their tasks are; --runs: those that show runs',
    options: { ...listing, runs: { type: 'boolean' } },
    looks: true,
    words: [0, 0],
    run: async (context) => {
      const { taskGraph } = await context.record()
      const answer = await taskGraph.missions(filterOf(context), context)
      const none = `No mission is there${isNarrowed(context) ? ' like that' : ' yet. Try: metier call metier:create_mission \'{"name":"…"}\''}.`
      return show(context, answer, answer.missions.length === 0 ? none : missionRows(answer.missions))
    },
  },
  'missions show': {
    group: 'Look',
    usage: 'missions show ID',
    does: 'one mission with its tasks as a tree',
    ids: 'mission',
    looks: true,
    words: [1, 1],
    run: async (context) => {
      const { taskGraph } = await context.record()
      const found = await taskGraph.mission(context.words[0]!, context)
      if (found === null) throw absent('mission', context.words[0]!)
      return show(context, found, missionTree(found.mission, found.tasks))
    },
  },
  tasks: {
    group: 'Look',
    usage: 'tasks [--mission ID] [--status S] [--limit N]',
    does: 'the tasks of the task graph, oldest first',
    options: { ...listing, mission: { type: 'string' } },
    looks: true,
    words: [0, 0],
    run: async (context) => listTasks(context, {}),
  },
  'tasks ready': {
    group: 'Look',
    usage: 'tasks ready [--mission ID] [--limit N]',
    does: 'the tasks that may begin, in the order in which they are claimed',
    options: { mission: { type: 'string' }, limit: { type: 'string' } },
    looks: true,
    words: [0, 0],
    run: async (context) => listTasks(context, { ready: true }),
  },
  'tasks show': {
    group: 'Look',
    usage: 'tasks show ID',
    does: 'everything that is known of one task',
    ids: 'task',
    looks: true,
    words: [1, 1],
    run: async (context) => {
      const { taskGraph } = await context.record()
      const task = await taskGraph.task(context.words[0]!, context)
      if (task === null) throw absent('task', context.words[0]!)
      return show(context, { task }, taskText(task))
    },
  },
}

async function listTasks(context: Context, more: { ready?: true }): Promise<number> {
  const { taskGraph } = await context.record()
  const { mission } = context.options
  const only = mission === undefined ? {} : { missionID: await findId(context, 'mission', String(mission)) }
  const given = { ...filterOf(context), ...only, ...more }
  const answer = await taskGraph.tasks(given, context)
  const none = more.ready ? 'No task may begin now.' : 'No task is there.'
  return show(context, answer, answer.tasks.length === 0 ? none : taskRows(answer.tasks))
}

function filterOf({ options }: Context): object {
  const limit = numberOption(options, 'limit', 1, limits.graphPageMax)
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(options.status === undefined ? {} : { status: options.status }),
    ...(options.runs === true ? { runs: true } : {}),
  }
}

function isNarrowed({ options }: Context): boolean {
  return options.status !== undefined || options.runs === true
}

function show({ json, print, note }: Context, answer: object, text: string): number {
  print(json ? JSON.stringify(answer) : text)
  const { next = null } = answer as { next?: number | null }
  if (!json && next !== null) note(`… more: --limit ${Math.min(next * 2, limits.graphPageMax)}`)
  return exit.done
}

function absent(kind: 'mission' | 'task', nodeID: string): AppError {
  const message = `Cannot show the ${kind} "${nodeID}": there is none; "metier ${kind}s" lists them`
  return new AppError('NEO4J_NODE_NOT_FOUND', message, { nodeID })
}
