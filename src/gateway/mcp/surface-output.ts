/**
 * The shapes of the three tools' answers: open where an answer may grow, and each with room for an
 * error instead.
 */
import type { DiscoverAnswer, ExecuteAnswer, ResultAnswer } from '#verbs'
import { nullable, orError, shapeOf } from './answer-schema.ts'

const objects = (description: string) => ({ type: 'array', items: { type: 'object' }, description }) as const

/** What tells more of a tool or a capability that is found, and explains itself. */
type OnlyOfSome = 'effects' | 'intent' | 'version' | 'status' | 'source' | 'parametersSchema' | 'record'

/** What only some runs have, or what explains itself where it stands. */
type NotOfHosts = 'raw' | 'mode' | 'interrupted' | 'speculated' | 'capability' | 'mayCall' | 'isWhole' | 'unread'

const found = shapeOf<DiscoverAnswer['results'][number], OnlyOfSome>()(
  {
    type: { type: 'string', enum: ['tool', 'capability'] },
    id: { type: 'string', description: 'server:name, or cap:name.' },
    score: { type: 'number', minimum: 0, maximum: 1 },
    brief: { type: 'boolean', description: 'true: below the cut, shown with one sentence only.' },
    why: {},
    description: { type: 'string' },
    input: {},
    output: {},
    effect: {},
  },
  ['type', 'id', 'score'],
)

export const discoverOutput = orError<DiscoverAnswer, 'starting'>()(
  {
    status: {
      type: 'string',
      enum: ['found', 'unsure', 'nothing_fits'],
      description:
        'unsure: none clearly fits; nothing_fits: a fit is improbable. The ranking is in results all the same.',
    },
    results: {
      type: 'array',
      items: found,
    },
    unmatched: { type: 'array', items: { type: 'string' }, description: 'Words of the intent that matched nothing.' },
    nearest: { type: 'array', items: { type: 'string' }, description: 'nothing_fits: ids that came closest.' },
    silent: {
      type: 'array',
      items: { type: 'string' },
      description: 'Servers that did not answer in time: they may still be starting, ask again.',
    },
  },
  ['status', 'results', 'unmatched', 'nearest'],
)

export const executeOutput = orError<ExecuteAnswer, 'error' | NotOfHosts>()(
  {
    status: {
      type: 'string',
      description: 'done, failed, cancelled, suggested, approval_required, uncertain or running.',
    },
    run: { type: 'string' },
    callCount: { type: 'integer' },
    ms: { type: 'number' },
    isolation: { description: 'How the program was closed in.' },
    result: { description: 'done: what the plan returned.' },
    preview: { type: 'string', description: 'done: the start of a result too large to stand here.' },
    bytes: { type: 'integer' },
    handle: { description: 'What to give to the tool result.' },
    suggestion: { type: 'object', description: 'suggested: a DAG with schemas, confidence and rationale.' },
    approvals: objects('Questions that only a human can answer.'),
    calls: objects('The calls of the run, or those whose outcome is unknown.'),
    logs: { type: 'array', items: { type: 'string' }, description: 'The last lines that the program printed.' },
    inFlight: { description: 'running: calls that are not answered yet.' },
  },
  ['status'],
)

export const resultOutput = orError<ResultAnswer>()(
  {
    run: { type: 'string' },
    status: { type: 'string' },
    value: {},
    text: { type: 'string' },
    offset: { type: 'integer' },
    next: { ...nullable('integer'), description: 'The offset of the next page.' },
    bytes: nullable('integer'),
    digest: nullable('string'),
  },
  ['run', 'status'],
)
