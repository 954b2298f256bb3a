/**
 * The product in two functions, discover() and execute(), with result() and what humans decide beside them.
 * Whatever enters is checked here; what leaves is plain data read from the record. Importing this loads little: each half is
 * loaded when it is opened, so that a command that only looks starts in the time of what it looks at.
 */
import type { Config } from '#model'
import { lineText } from './answer-logs.ts'
import { argumentsHandle } from './arguments-handle.ts'
import type { RecordVerbs, Surroundings, Verbs } from './contract.ts'
import { type Decision, readDecision } from './decision.ts'
import type { Caller } from './execute.ts'
import type { RunFilter } from './list-runs.ts'
import {
  adviceLines,
  argumentsLine,
  argumentsText,
  mayCallLines,
  originLine,
  originLines,
  type Question,
} from './question.ts'
import type { Settling } from './settle.ts'

export {
  adviceLines,
  argumentsHandle,
  argumentsLine,
  argumentsText,
  type Caller,
  type Decision,
  lineText,
  mayCallLines,
  originLine,
  originLines,
  type Question,
  type RecordVerbs,
  type RunFilter,
  readDecision,
  type Settling,
  type Surroundings,
  type Verbs,
}

/** What can be read; nothing is started for it. */
export async function openRecordVerbs(config: Config, surroundings: Surroundings): Promise<RecordVerbs> {
  const { openRecordVerbs: open } = await import('./record-verbs.ts')
  return open(config, surroundings)
}

/** Everything. `opened` is the record where this process has it open already: then it is closed together with the rest. */
export async function openVerbs(config: Config, surroundings: Surroundings, opened?: RecordVerbs): Promise<Verbs> {
  const [record, { openMovingVerbs }] = await Promise.all([
    opened ?? openRecordVerbs(config, surroundings),
    import('./moving-verbs.ts'),
  ])
  return openMovingVerbs(record, config, surroundings)
}
