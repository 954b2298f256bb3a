/**
 * `metier sandbox run`: one call of the script tool as a run of its own, recorded, judged and
 * replayed like any other.
 */
import {
  AppError,
  type ArtifactId,
  builtInServer,
  type Config,
  escapeInvisible,
  type Json,
  type JsonObject,
  parseId,
} from '#model'
import { askWhileWaiting } from '#show/approvals'
import { artifactsOf, type Context, exit, exitOfAnswer, UsageError } from '#show/cli'
import { printAnswer } from '#show/text'

const tool = `${builtInServer}:execute_script_in_sandbox`

export async function runScript(context: Context): Promise<number> {
  const { language } = context.options
  if (typeof language !== 'string') throw new UsageError('say which: --language python|bash|go')
  const from = context.words[0]!
  const args = {
    interpreter: language,
    scriptContent: from === '-' ? await context.stdin() : await context.readFile(from),
    config: await configOf(context),
  }
  const tasks = [{ id: 'script', tool, arguments: { $literal: args } }]
  const input = { intent: `run a script in ${language}`, implementation: { type: 'dag', tasks } }
  const answer = await askWhileWaiting(context, (await context.verbs()).execute(input, context.caller))
  if (answer.status === 'done') return printResult(context, answer)
  if (answer.status !== 'failed') return printAnswer(context, Promise.resolve(answer))
  const error = await errorOf(context, answer)
  if (context.json) context.print(JSON.stringify({ error, run: answer.run }))
  else {
    showOutputs(context, error.context)
    context.note(`metier: ${escapeInvisible(error.message)} · run ${answer.run}`)
  }
  return exitOfAnswer(answer)
}

type Failure = { message: string; context: JsonObject }

/** As it is recorded: an answer bounds what a script had printed before it was stopped. */
async function errorOf(context: Context, { run, error }: JsonObject): Promise<Failure> {
  const { calls } = await (await context.verbs()).run(String(run))
  const [call] = calls as { error?: Failure }[]
  return call?.error ?? (error as Failure)
}

async function configOf({ config, options }: Context): Promise<JsonObject> {
  const { tier, timeout, network, input } = options
  const inputs = await Promise.all(((input as string[] | undefined) ?? []).map((id) => inputOf(config, id)))
  return {
    ...(inputs.length > 0 && { inputArtifacts: Object.fromEntries(inputs) }),
    ...(timeout !== undefined && { timeoutSeconds: Number(timeout) }),
    ...(typeof network === 'string' && { networkPolicy: network }),
    ...(typeof tier === 'string' && { tier }),
  }
}

/** Its storage path, and where the script finds it. */
async function inputOf(config: Config, text: string): Promise<[string, string]> {
  const id = parseId<ArtifactId>('--input', text)
  const found = await (await artifactsOf(config)).get(id)
  if (found === null)
    throw new AppError('S3_ARTIFACT_NOT_FOUND', `Cannot hand over the artifact ${id}: there is none`, { id })
  return [found.path, `/inputs/${found.name}`]
}

type Result = {
  exitCode: number
  stdout: string
  stderr: string
  truncated: boolean
  clamped?: boolean
  isolation: { tier: string; layers: string[] }
}

/** The time is that of the call, as it is recorded. */
async function printResult(context: Context, { run, calls }: JsonObject): Promise<number> {
  const result = JSON.parse(await (await context.verbs()).resultText({ run })) as Result
  const [{ ms } = { ms: 0 }] = calls as unknown as { ms: number }[]
  const { exitCode, stdout, stderr, truncated, isolation, clamped } = result
  const shown = { exitCode, stdout, stderr, truncated, ms, isolation, ...(clamped && { clamped }), run }
  if (context.json) {
    context.print(JSON.stringify(shown))
    return exit.done
  }
  showOutputs(context, { stdout, stderr })
  const held = `${isolation.tier} (${isolation.layers.join(', ')})`
  context.note(`exit ${exitCode} · ${ms} ms · ${held}${truncated ? ' · output cut' : ''} · run ${run}`)
  return exit.done
}

/** Also of a script that was stopped: what it had printed by then. */
function showOutputs(context: Context, { stdout, stderr }: Record<string, Json | undefined>): void {
  if (typeof stdout === 'string' && stdout !== '') context.print(stdout.replace(/\n$/, ''))
  if (typeof stderr === 'string' && stderr !== '') context.note(stderr.replace(/\n$/, ''))
}
