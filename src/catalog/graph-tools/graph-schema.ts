/**
 * Schemas and texts that several tools of the task graph share: ids, pages, statuses, and what is
 * known of a task, a mission and an artifact.
 */
import { type JsonObject, limits } from '#model'
import { missionStatuses, relationshipTypes, taskStatuses } from '#tasks'

export const string: JsonObject = { type: 'string' }
export const boolean: JsonObject = { type: 'boolean' }
export const integer: JsonObject = { type: 'integer' }
export const strings: JsonObject = { type: 'array', items: string }
export const taskStatus: JsonObject = { type: 'string', enum: [...taskStatuses] }
export const missionStatus: JsonObject = { type: 'string', enum: [...missionStatuses] }
export const relationshipType: JsonObject = { type: 'string', enum: [...relationshipTypes] }

const { graphPageDefault, graphPageMax } = limits

export const paging = [
  {
    name: 'limit',
    schema: { type: 'integer', minimum: 1, maximum: graphPageMax },
    text: `How many at the most, from 1 to ${graphPageMax}.`,
    ifOmitted: `${graphPageDefault}.`,
  },
  {
    name: 'offset',
    schema: { type: 'integer', minimum: 0 },
    text: 'How many to pass over.',
    ifOmitted: '0.',
  },
]
export const nextPage = {
  name: 'next',
  schema: { type: ['integer', 'null'] },
  text: 'The offset of the next page; null where this was the last.',
}

export const taskParameter = { name: 'taskID', schema: string, text: 'The UUID of the task, which MUST exist.' }

const optional = {
  name: string,
  priority: integer,
  temporalWorkflowID: string,
  expectedDeliverable: string,
  resultData: string,
  notes: string,
  parentID: string,
  childTaskIDs: strings,
  dependencyTaskIDs: strings,
  dependentTaskIDs: strings,
  assignedAgentID: string,
  producedArtifactIDs: strings,
  consumedArtifactIDs: strings,
  requiredCapabilities: strings,
  validationID: string,
  failureID: string,
  promptArtifactID: string,
  logArtifactIDs: strings,
  tags: strings,
}
const required = {
  id: string,
  description: string,
  status: taskStatus,
  createdAt: string,
  updatedAt: string,
  missionID: string,
}

export const task: JsonObject = {
  type: 'object',
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
}
export const taskOrNull: JsonObject = { ...task, type: ['object', 'null'] }

export const mission: JsonObject = {
  type: 'object',
  properties: {
    id: string,
    name: string,
    description: string,
    status: missionStatus,
    run: string,
    createdAt: string,
    updatedAt: string,
    tasks: { type: 'object', additionalProperties: integer },
  },
  required: ['id', 'name', 'status', 'createdAt', 'updatedAt', 'tasks'],
  additionalProperties: false,
}

/** What the codes mean that most tools of the graph have, for the parameters that they name. */
export const errors = {
  invalid: (what: string) => ({ INVALID_INPUT_PARAM: `${what}; param names it.` }),
  missing: (what: string) => ({ MISSING_REQUIRED_PARAM: `${what} is missing or empty.` }),
  taken: { NEO4J_CONSTRAINT_VIOLATION: 'a node has the id that the new one would get.' },
  notFound: (what: string) => ({ NEO4J_NODE_NOT_FOUND: `there is no ${what} with this id; nodeID has it.` }),
}

/** Ids for examples. */
export const example = {
  mission: '3f0c8a52-6b1d-8e47-9a35-0d2c4b6e8f10',
  task: '7a1e5c94-2d3b-8f60-8b72-1c4d6e8fa0b2',
  other: '9c2f6da5-3e4c-8071-9c83-2d5e7f90b1c3',
  agent: 'b4d07eb6-4f5d-8182-8d94-3e6f80a1c2d4',
  absent: 'd6f29fd8-617f-8394-8fa6-507b92c3e4f6',
  at: '2026-01-31T09:30:00.000Z',
}
