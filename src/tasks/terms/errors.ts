/** The refusals of the task graph, each with the context that a model needs to correct itself. */
import { AppError } from '#model'

export function invalid(
  param: string,
  details: string,
  more: { value?: unknown; [key: string]: unknown } = {},
): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot read "${param}": ${details}`, { param, details, ...more })
}

export function missing(param: string): AppError {
  return new AppError(
    'MISSING_REQUIRED_PARAM',
    `Cannot go on without "${param}": it is required and must not be empty`,
    {
      param,
    },
  )
}

/** `given`: what the caller wrote, where that was the name of a node. */
export function notFound(nodeID: string, given: unknown = nodeID): AppError {
  const isNamed = typeof given === 'string' && given.includes(':')
  const details = isNamed ? 'there is none of this name; ensure_node makes it' : 'there is none with this id'
  return new AppError('NEO4J_NODE_NOT_FOUND', `Cannot find the node "${isNamed ? given : nodeID}": ${details}`, {
    nodeID,
  })
}

/** A node that shows a run follows the record: a change made elsewhere would be overwritten. */
export function ofRun({ id, run }: { id: string; run?: string }): AppError {
  const message = `Cannot change the node "${id}": it shows the run ${run}, and only that run's record changes it`
  return new AppError('PERMISSION_DENIED', message, { nodeID: id, run: run! })
}

export function violation(details: string, context: Record<string, unknown>): AppError {
  return new AppError('NEO4J_CONSTRAINT_VIOLATION', `Cannot change the graph: ${details}`, { details, ...context })
}
