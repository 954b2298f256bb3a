/**
 * What a session is started with, whole: goal, protocol, the text that teaches it, model, folder
 * and limits. It stands in the record as the plan of the run, so that replay reads nothing else.
 */
import { AppError, isObject, type Json, type JsonObject } from '#model'

const protocols = ['rebound', 'tool_code'] as const
export type ProtocolName = (typeof protocols)[number]

export type AgentPlan = {
  goal: string
  protocol: ProtocolName
  system: string
  model: string
  /** The model's window, which decides when a history is shortened. */
  contextTokens: number
  /** Absolute; no link leads to it. */
  workspace: string
  /** Whether the model may use discover, execute and result. */
  tools: boolean
  maxSteps: number
  tokens: number
}

const types: Record<keyof AgentPlan, 'string' | 'number' | 'boolean'> = {
  goal: 'string',
  protocol: 'string',
  system: 'string',
  model: 'string',
  contextTokens: 'number',
  workspace: 'string',
  tools: 'boolean',
  maxSteps: 'number',
  tokens: 'number',
}

/** A plan of the record, which an earlier release may have written. */
export function readPlan(source: Json): AgentPlan {
  const plan: JsonObject = isObject(source) ? (source as JsonObject) : {}
  const wrong = Object.entries(types).filter(([name, type]) => typeof plan[name] !== type)
  const problems = wrong.map(([name, type]) => `"${name}" must be a ${type}`)
  if (!protocols.some((name) => name === plan.protocol)) problems.push(`"protocol" must be ${protocols.join(' or ')}`)
  if (String(plan.goal ?? '').trim() === '') problems.push('"goal" must say what is to be done')
  if (problems.length === 0) return plan as AgentPlan
  throw new AppError('PLAN_INVALID', `Cannot start the session: ${problems.join('; ')}`, { problems })
}
