/** Commands with which a human decides: approvals, and calls whose outcome is unknown. */
import { once } from 'node:events'
import { escapeInvisible, isObject, type JsonObject, type PermissionSet } from '#model'
import {
  type Command,
  type Context,
  exit,
  exitOfAnswer,
  faint,
  good,
  jsonArgument,
  oneLine,
  table,
  UsageError,
} from '#show/cli'
import { printAnswer, questionText } from '#show/text'
import type { Settlement, StandingLine, Verbs } from '#verbs'
import { answerAll } from './answer-approvals.ts'
import { onQuestion } from './on-question.ts'

/** What each set does with a call that no line decides. */
const meanings: Record<PermissionSet, string> = {
  minimal: 'calls that only read are made, all others are refused',
  standard: 'calls that read or may be repeated are made, all others ask a human',
  privileged: 'every call is made',
}

const resumeOption = { 'no-resume': { type: 'boolean' } } as const

export const decideCommands: Record<string, Command> = {
  approvals: {
    group: 'Decide',
    usage: 'approvals',
    does: 'questions that wait for an answer',
    words: [0, 0],
    run: async (context) => {
      const { approvals, withPlannedTools } = await context.record()
      const open = approvals()
      const lines = open.map(({ id, tool, args, why }) => [
        String(id),
        String(tool),
        oneLine(escapeInvisible(JSON.stringify(args)), 60),
        escapeInvisible(String(why)),
      ])
      if (context.json) context.print(JSON.stringify(await withPlannedTools(open)))
      else if (lines.length === 0) context.print('Nothing waits for an answer.')
      else {
        context.print(table(lines))
        context.note('metier approve ID [--run|--always] [--edit JSON]  or  metier deny ID [--reason TEXT]')
      }
      return exit.done
    },
  },
  'approvals watch': {
    group: 'Decide',
    usage: 'approvals watch',
    does: 'show each question as it comes, with all that is known of it, and at a terminal answer it by key, until you stop it',
    words: [0, 0],
    run: async (context) => {
      const verbs = await context.verbs()
      if (context.terminal === null) return watch(context, verbs)
      await answerAll(context, verbs, context.terminal)
      return exit.done
    },
  },
  policy: {
    group: 'Decide',
    usage: 'policy',
    does: 'the permission set and the lines that stand before it, in the order in which they are tried',
    words: [0, 0],
    run: async ({ record, json: asJson, print }) => {
      const { permissions, rules, standing } = await (await record()).policy()
      if (asJson) print(JSON.stringify({ permissions, rules, standing }))
      else {
        const always = ({ id, who, at }: StandingLine) => `always, by ${who} at ${at}: policy forget ${id}`
        const inForce = standing.filter((line) => line.isInForce)
        const lines = [
          ...rules.map((rule) => [rule, 'file'] as const),
          ...inForce.map((line) => [line.rule, always(line)] as const),
        ]
        const stricter = standing.filter((line) => !line.isInForce)
        print(
          [
            ...lines.map(
              ([rule, from], index) =>
                `${index + 1}. ${escapeInvisible(JSON.stringify(rule))} (${escapeInvisible(from)})`,
            ),
            `else: ${permissions} (${meanings[permissions]})`,
            ...stricter.map((line) =>
              faint(
                `without effect: ${escapeInvisible(JSON.stringify(line.rule))}, given under "${line.permissions}", which the file made stricter since (${escapeInvisible(always(line))})`,
              ),
            ),
          ].join('\n'),
        )
      }
      return exit.done
    },
  },
  'policy forget': {
    group: 'Decide',
    usage: 'policy forget ID',
    does: 'take back a line that an answer given with --always wrote, for every run from now on',
    words: [1, 1],
    run: async ({ verbs, words, caller, json: asJson, print }) => {
      const forgotten = await (await verbs()).forget(words[0]!, caller)
      const line = escapeInvisible(JSON.stringify(forgotten.rule))
      print(asJson ? JSON.stringify(forgotten) : `${good('✓')} ${line} does not stand any more`)
      return exit.done
    },
  },
  approve: {
    group: 'Decide',
    usage: 'approve ID [--edit JSON] [--run|--always [SERVER:*]] [--no-resume]',
    does: 'let a call be made, as asked or with other arguments; --run and --always let the tool pass from now on, or all of its server',
    options: { edit: { type: 'string' }, run: { type: 'boolean' }, always: { type: 'boolean' }, ...resumeOption },
    ids: 'approval',
    words: [1, 2],
    run: async (context) => {
      const { edit, run, always } = context.options
      const [, covers] = context.words
      if (covers !== undefined && run !== true && always !== true)
        throw new UsageError(`"${covers}" says what --run or --always is about: give one of them`)
      if (run === true && always === true) throw new UsageError('give only one of --run, --always')
      const args = edit === undefined ? {} : { args: jsonArgument('--edit', edit) }
      const scope = always === true ? 'always' : run === true ? 'run' : 'once'
      const goOn = context.options['no-resume'] !== true
      const verbs = await context.verbs()
      return decided(
        context,
        verbs.decide(
          context.words[0]!,
          { answer: 'approved', ...args, scope, ...(covers && { covers }) },
          context.caller,
          goOn,
        ),
      )
    },
  },
  deny: {
    group: 'Decide',
    usage: 'deny ID [--reason TEXT] [--no-resume]',
    does: 'refuse a call; the program gets APPROVAL_DENIED',
    options: { reason: { type: 'string' }, ...resumeOption },
    ids: 'approval',
    words: [1, 1],
    run: async (context) => {
      const { reason } = context.options
      const said = typeof reason === 'string' ? { reason } : {}
      const goOn = context.options['no-resume'] !== true
      const verbs = await context.verbs()
      return decided(context, verbs.decide(context.words[0]!, { answer: 'denied', ...said }, context.caller, goOn))
    },
  },
  'run settle': {
    group: 'Decide',
    usage: 'run settle RUN --call N (--done JSON | --failed TEXT | --again) [--no-resume]',
    does: 'say what became of a call whose outcome is unknown',
    options: {
      call: { type: 'string' },
      done: { type: 'string' },
      failed: { type: 'string' },
      again: { type: 'boolean' },
      ...resumeOption,
    },
    ids: 'run',
    words: [1, 1],
    run: async (context) => {
      const { call } = context.options
      if (typeof call !== 'string') throw new UsageError('say which call: --call N')
      const verbs = await context.verbs()
      const goOn = context.options['no-resume'] !== true
      return decided(context, verbs.settle(context.words[0]!, call, settling(context), context.caller, goOn))
    },
  },
}

/** Prints each question once, for a program or a file to read. */
async function watch(context: Context, verbs: Verbs): Promise<number> {
  const stop = onQuestion(verbs, (question) =>
    context.print(context.json ? JSON.stringify(question) : questionText(question)),
  )
  if (verbs.approvals().length === 0) context.note('Nothing waits for an answer yet. Stop with Ctrl-C.')
  await stopped(context.signal)
  stop()
  return exit.done
}

/** The record is asked in the background, which keeps no process alive: this does. */
async function stopped(signal: AbortSignal): Promise<void> {
  const alive = setInterval(() => {}, 60_000)
  if (!signal.aborted) await once(signal, 'abort')
  clearInterval(alive)
}

/**
 * Where another process goes on with the run, or none yet, all it prints is that the answer is
 * recorded.
 */
async function decided(context: Context, pending: Promise<JsonObject>): Promise<number> {
  const { resumed, ...value } = await pending
  if (isObject(value.line)) context.note(`the line ${JSON.stringify(value.line.rule)}: ${value.line.says}`)
  if (resumed === 'here' || context.json)
    return printAnswer(context, Promise.resolve(value), resumed === 'here' ? exitOfAnswer : () => exit.done)
  const { run } = value
  const next = resumed === 'elsewhere' ? 'another process goes on with' : 'nobody goes on yet with'
  context.note(
    `${good('✓')} recorded; ${next} run ${run}: metier ${resumed === 'elsewhere' ? 'result' : 'run resume'} ${run}`,
  )
  return exit.done
}

function settling({ options: { done, failed, again } }: Context): Settlement {
  const given = [done, failed, again].filter((option) => option !== undefined).length
  if (given !== 1) throw new UsageError('say what happened: one of --done JSON, --failed TEXT, --again')
  if (typeof done === 'string') return { how: 'done', value: jsonArgument('--done', done) }
  return typeof failed === 'string' ? { how: 'failed', text: failed } : { how: 'again' }
}
