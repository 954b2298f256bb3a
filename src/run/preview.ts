/**
 * What a plan may call, told before it does: each tool with the lines that name it, and whether it
 * would be asked about.
 */
import {
  type DagTask,
  LruCache,
  limits,
  type Plan,
  type PolicyRule,
  programClosing,
  programOpening,
  sha256,
  type Tool,
  toText,
} from '#model'
import { dangerOf, decideEarly, type Verdict } from '#run/policy'
import type { Structure } from '#run/structure'

/** `then` is null where the arguments decide, and where nothing is known of the tool. */
export type MayCall = {
  tool: string
  lines: number[]
  tasks?: string[]
  effect: string | null
  danger: string | null
  then: Verdict['action'] | null
  because: string | null
}

/**
 * Not `isWhole`: it may call others, which only the run can tell. `unread` is why nothing could be
 * read of it.
 */
export type Preview = { mayCall: MayCall[]; isWhole: boolean; unread?: string }

/** `digest` is that of the source that the program became, types stripped. */
export type RecordedPlan = { plan: Plan; digest: string }

type Mention = { tool: string; line?: number; task?: string }
type Policy = { permissions: 'minimal' | 'standard' | 'privileged'; rules: readonly PolicyRule[] }

/**
 * `toolOf` gives what is known of a tool; undefined of one that is not known, or not known just
 * now.
 */
export async function previewOf(
  plan: RecordedPlan,
  policy: Policy,
  toolOf: (id: string) => Promise<Tool | undefined>,
): Promise<Preview> {
  const { mayCall, ...rest } = await namedBy(plan)
  const found = await Promise.all(mayCall.map(({ tool }) => toolOf(tool)))
  return { mayCall: mayCall.map((named, index) => ({ ...named, ...judged(found[index], policy) })), ...rest }
}

type NamedTool = Pick<MayCall, 'tool' | 'lines' | 'tasks'>
type NamedBy = Omit<Preview, 'mayCall'> & { mayCall: NamedTool[] }

const kept = new LruCache<string, NamedBy>(limits.plansNamedMax)

/**
 * The same from the plan alone, without what is known of the tools. Reading a plan costs more than
 * all else of a question, and questions are listed again and again: of the plans that were read
 * last it is kept.
 */
export async function namedBy({ plan, digest }: RecordedPlan): Promise<NamedBy> {
  const key = sha256(toText(plan))
  const named = kept.get(key) ?? (await read(plan, digest))
  if (named.mayCall.length <= limits.planToolsKeptMax) kept.set(key, named)
  return named
}

async function read(plan: Plan, digest: string): Promise<NamedBy> {
  const { mentions, ...rest } = await readPlan(plan, digest)
  const ids = [...new Set(mentions.map(({ tool }) => tool))]
  const mayCall = ids.map((tool): NamedTool => {
    const mine = mentions.filter((mention) => mention.tool === tool)
    const lines = [...new Set(mine.flatMap(({ line }) => line ?? []))]
    const tasks = [...new Set(mine.flatMap(({ task }) => task ?? []))]
    return { tool, lines, ...(tasks.length === 0 ? {} : { tasks }) }
  })
  return { mayCall, ...rest }
}

/** What an agent will call is for its model to say. */
async function readPlan(plan: Plan, digest: string): Promise<Read> {
  if (plan.kind === 'agent') return { mentions: [], isWhole: false, unread: 'its model decides as it goes' }
  return plan.kind === 'code' ? ofCode(plan.code, digest) : ofGraph(plan.tasks)
}

type Read = { mentions: Mention[]; isWhole: boolean; unread?: string }

/**
 * A text that only has to be wrapped to have the recorded digest had no types: it is what ran. Any
 * other is stripped again, for which the sandbox is loaded.
 */
async function sourceOf(code: string, digest?: string): Promise<string> {
  const wrapped = programOpening + code + programClosing
  if (sha256(wrapped) === digest) return wrapped
  const { preparedCached } = await import('#run/program')
  return preparedCached(code).source
}

async function ofCode(code: string, digest?: string): Promise<Read> {
  const { structureOf } = await import('#run/structure')
  const structure: Structure = structureOf(await sourceOf(code, digest))
  if (!structure.known) return { mentions: [], isWhole: false, unread: structure.why }
  const calls = structure.nodes.filter((node) => node.kind === 'call')
  const noted = structure.annotations.filter(({ kind }) => kind === 'depends')
  return {
    mentions: [
      ...[...calls, ...structure.handed].flatMap(({ tools, line }) => tools.map((tool) => ({ tool, line }))),
      ...noted.flatMap(({ names, line }) => names.map((tool) => ({ tool, line }))),
    ],
    isWhole: structure.isWhole && calls.every(({ tools }) => tools.length > 0),
  }
}

async function ofGraph(tasks: DagTask[]): Promise<Read> {
  const reading = tasks.map(async (task): Promise<Read> => {
    if (task.code !== undefined) {
      const { mentions, ...rest } = await ofCode(task.code)
      return { mentions: mentions.map(({ tool }) => ({ tool, task: task.id })), ...rest }
    }
    const isTool = task.tool !== undefined && !task.tool.startsWith('code:')
    return { mentions: isTool ? [{ tool: task.tool!, task: task.id }] : [], isWhole: true }
  })
  const parts = await Promise.all(reading)
  const unread = parts.find((part) => part.unread !== undefined)?.unread
  return {
    mentions: parts.flatMap(({ mentions }) => mentions),
    isWhole: parts.every(({ isWhole }) => isWhole),
    ...(unread === undefined ? {} : { unread }),
  }
}

function judged(tool: Tool | undefined, { permissions, rules }: Policy): Omit<MayCall, keyof NamedTool> {
  if (tool === undefined) return { effect: null, danger: null, then: null, because: null }
  const danger = dangerOf(tool)
  const { id, effect, effects } = tool
  const verdict = decideEarly({ tool: id, effect, effects, danger }, permissions, rules)
  return { effect, danger, then: verdict?.action ?? null, because: verdict?.because ?? null }
}
