/** Makes the plan of a session: the folder it works in, the text that teaches the protocol. */
import { readFileSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openModel } from '#agent/models'
import { type AgentPlan, type ProtocolName, readPlan } from '#agent/protocol'
import { AppError, type Config } from '#model'

export type PlanRequest = {
  goal: string
  workspace: string
  model?: string
  protocol?: ProtocolName
  maxSteps?: number
  tokens?: number
}

/** Refuses what could never begin: no such model, no key for it, no package, no folder. */
export async function newPlan(request: PlanRequest, config: Config): Promise<AgentPlan> {
  const { agent, budget } = config
  const model = request.model ?? agent.model
  if (model === null) {
    const details = 'give --model anthropic:NAME, openai:NAME or compatible:NAME@URL, or set agent.model'
    throw new AppError('MISSING_REQUIRED_PARAM', `Cannot start the session: no model is named; ${details}`, {
      param: 'model',
    })
  }
  const { contextTokens } = await openModel(model, config, { directory: directoryOf(config) })
  const protocol = request.protocol ?? agent.protocol
  const plan = {
    goal: request.goal,
    protocol,
    system: systemPrompt(protocol, agent.tools),
    model,
    contextTokens,
    workspace: await folderAt(request.workspace),
    tools: agent.tools,
    maxSteps: request.maxSteps ?? agent.maxSteps,
    // What a request may use is what is left of the tighter of the two.
    tokens: Math.min(request.tokens ?? agent.tokens, budget.tokens ?? Number.POSITIVE_INFINITY),
  }
  return readPlan(plan)
}

/** Where files that answer for a model are looked for. */
export function directoryOf({ file }: Config): string {
  return file === null ? process.cwd() : dirname(file)
}

function systemPrompt(protocol: ProtocolName, tools: boolean): string {
  const read = (name: string) => readFileSync(join(import.meta.dirname, 'prompts', `${name}.txt`), 'utf8').trim()
  return [read(protocol), ...(tools ? [read('tools')] : [])].join('\n\n')
}

async function folderAt(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return realpath(path)
  throw new AppError('INVALID_INPUT_PARAM', `Cannot work in ${path}: there is no such folder`, {
    param: 'workspace',
    details: 'must be a folder',
  })
}
