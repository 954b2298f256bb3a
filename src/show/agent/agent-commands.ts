/** Commands of the agent: begin a session, go on with one, look at it, verify it. */
import { dirname, resolve } from 'node:path'
import type { PlanRequest, SessionView } from '#agent'
import { AppError, escapeInvisible, type JsonObject, type PermissionSet, parseId, type RunId } from '#model'
import { askWhileWaiting } from '#show/approvals'
import {
  type Command,
  type Context,
  exit,
  exitOfAnswer,
  exitOfError,
  numberOption,
  shortId,
  UsageError,
} from '#show/cli'
import { type ExecuteAnswer, exportRun, openArtifacts } from '#verbs'
import type { Following } from './follow-session.ts'
import { openSession, sessionRows, sessionText, stepsText } from './session-text.ts'

const starting = {
  model: { type: 'string' },
  protocol: { type: 'string' },
  workspace: { type: 'string' },
  'max-steps': { type: 'string' },
  tokens: { type: 'string' },
  permissions: { type: 'string' },
} as const

export const agentCommands: Record<string, Command> = {
  agent: {
    group: 'Use',
    usage:
      'agent GOAL [--model M] [--protocol rebound|tool_code] [--workspace DIR] [--max-steps N] [--tokens N] [--permissions P]',
    does: 'let a model work on a goal, with every step on the record',
    options: starting,
    words: [1, 1],
    run: async (context) => {
      const { newPlan } = await import('#agent')
      const plan = await newPlan(requestOf(context), context.config)
      const { permissions } = context.options
      const narrowing = permissions === undefined ? {} : { permissions: permissionsOf(String(permissions)) }
      const pursuit = { plan, goal: plan.goal, ...narrowing }
      return pursueHere(context, async (began) => (await context.verbs()).pursue(pursuit, { ...context.caller, began }))
    },
  },
  'agent resume': {
    group: 'Use',
    usage: 'agent resume SESSION',
    does: 'go on with a session that was interrupted, or waits',
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      const session = context.words[0]!
      await openSession(context, session)
      return pursueHere(context, async (began) => (await context.verbs()).resume(session, { ...context.caller, began }))
    },
  },
  sessions: {
    group: 'Look',
    usage: 'sessions',
    does: 'the sessions of the agent, newest first',
    looks: true,
    words: [0, 0],
    run: async (context) => {
      const rows = await sessionRows(context)
      if (context.json) context.print(JSON.stringify(rows))
      else
        context.print(
          rows.length === 0 ? 'No session yet. Try: metier agent "…" --model NAME' : rows.map(lineOf).join('\n'),
        )
      return exit.done
    },
  },
  'session show': {
    group: 'Look',
    usage: 'session show SESSION',
    does: 'the steps of a session: what was asked, said, written and run',
    ids: 'run',
    looks: true,
    words: [1, 1],
    run: async (context) => {
      const { view } = await openSession(context, context.words[0]!)
      context.print(context.json ? JSON.stringify(view) : sessionText(view))
      return exit.done
    },
  },
  'session verify': {
    group: 'Keep',
    usage: 'session verify SESSION',
    does: 'compare the ledger, the manifest, the transcript and every file of a session with the record',
    ids: 'run',
    words: [1, 1],
    run: async (context) => verify(context),
  },
  'session export': {
    group: 'Keep',
    usage: 'session export SESSION -o FILE',
    does: 'a session as a .tar.gz that anyone can verify, with a page to read',
    options: { output: { type: 'string', short: 'o' } },
    ids: 'run',
    words: [1, 1],
    run: async (context) => exportSession(context),
  },
}

async function exportSession(context: Context): Promise<number> {
  const { output } = context.options
  if (typeof output !== 'string') throw new UsageError('say where to: -o FILE')
  const session = context.words[0]!
  const { sessionPage } = await import('#agent')
  const { view } = await openSession(context, session)
  const exported = await exportRun(context.config, parseId<RunId>('SESSION', session), output, {
    'session.html': sessionPage(view),
  })
  context.print(
    context.json ? JSON.stringify(exported) : `${exported.file}  ${exported.bytes} bytes  ${exported.files} files`,
  )
  return exit.done
}

async function verify(context: Context): Promise<number> {
  const { verifySession } = await import('#agent')
  const session = context.words[0]!
  const record = await openSession(context, session)
  const { ok } = (await (await context.record()).ledger(session)) as unknown as { ok: boolean }
  const difference = ok
    ? await verifySession(record, () => openArtifacts(context.config))
    : { file: 'the record', problem: 'its chain is broken' }
  const answer = {
    ok: difference === null,
    session,
    files: record.view.files.length + record.view.outputs.length,
    ...(difference && { difference }),
  }
  if (context.json) context.print(JSON.stringify(answer))
  else if (difference !== null) context.print(`${escapeInvisible(difference.file)} ${difference.problem}`)
  else context.print(`${record.lines.length} events, ${answer.files} files: as recorded`)
  return difference === null ? exit.done : exit.ledger
}

type Began = (run: string) => void

/** Shows the session while it moves; its books are written as it goes, and once more at its end. */
async function pursueHere(context: Context, move: (began: Began) => Promise<ExecuteAnswer>): Promise<number> {
  const { followSession } = await import('./follow-session.ts')
  const verbs = await context.verbs()
  let following: Following | undefined
  const moving = move((run) => {
    following ??= followSession(context, verbs, run)
  })
  let answer: ExecuteAnswer
  try {
    answer = await askWhileWaiting(context, moving)
  } finally {
    await following?.stop()
  }
  const { view } = await openSession(context, String(answer.run))
  return told(context, answer, view)
}

async function told(context: Context, answer: ExecuteAnswer, view: SessionView): Promise<number> {
  const { statusOf } = await import('#agent')
  const { run, error } = answer
  const status = statusOf(answer)
  const result =
    status === 'done' ? (JSON.parse(await (await context.verbs()).resultText({ run })) as JsonObject) : null
  const { steps, tokens, cost, plan } = view
  const summary = { status, session: run, run, result, steps, tokens, cost, workspace: plan.workspace }
  if (context.json) context.print(JSON.stringify({ ...summary, ...(error !== undefined && { error }) }))
  else if (result !== null) {
    context.note('\nFinal result')
    context.print(escapeInvisible(String(result.text)))
  } else
    context.note(`\nNo result: ${status}${error === undefined ? '' : ` · ${escapeInvisible(String(error.message))}`}`)
  context.note(
    `session ${run} · ${stepsText(steps)} · ${tokens.input + tokens.output} tokens · metier session show ${shortId(String(run))}`,
  )
  return status === 'failed' ? exitOfError(error!.code) : exitOfAnswer(answer)
}

function requestOf({ options, words, config }: Context): PlanRequest {
  const { model, protocol, workspace } = options
  const folder = workspace ?? (config.file === null ? process.cwd() : dirname(config.file))
  const maxSteps = numberOption(options, 'max-steps', 1)
  const tokens = numberOption(options, 'tokens', 1)
  if (protocol !== undefined && protocol !== 'rebound' && protocol !== 'tool_code')
    throw new UsageError('--protocol is rebound or tool_code')
  return {
    goal: words[0]!,
    workspace: resolve(String(folder)),
    ...(typeof model === 'string' && { model }),
    ...(protocol !== undefined && { protocol }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(tokens !== undefined && { tokens }),
  }
}

function permissionsOf(value: string): PermissionSet {
  if (value === 'minimal' || value === 'standard' || value === 'privileged') return value
  const allowed_values = ['minimal', 'standard', 'privileged']
  throw new AppError('INVALID_INPUT_PARAM', `Cannot use --permissions ${value}: it is ${allowed_values.join(', ')}`, {
    param: 'permissions',
    details: 'not known',
    allowed_values,
  })
}

function lineOf({ session, status, steps, goal, model }: JsonObject): string {
  return `${shortId(String(session))}  ${status}  ${stepsText(Number(steps))}  ${escapeInvisible(String(model))}  ${escapeInvisible(String(goal))}`
}
