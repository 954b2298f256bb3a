/**
 * The product in two functions, discover() and execute(), with result() and what humans decide
 * beside them. Whatever enters is checked here; what leaves is plain data read from the record.
 * Importing this loads little: each half is loaded when it is opened, so that a command that only
 * looks starts in the time of what it looks at.
 */
import type { Config } from '#model'
import type { Store } from '#record'
import type { Settlement } from '#verbs/decisions'
import type { Caller } from '#verbs/execute'
import { type Decision, DecisionError, decisionFault, readDecision } from '#verbs/input'
import {
  adviceLines,
  argumentsHandle,
  argumentsLine,
  argumentsText,
  lineText,
  mayCallLines,
  originLine,
  originLines,
} from '#verbs/text'
import type { Approval, DiscoverAnswer, ExecuteAnswer, Question, ResultAnswer, RunFilter } from '#verbs/views'
import type { RecordVerbs, SessionKit, SpeechListener, Verbs, VerbsOptions } from './contract.ts'
import { issuerFetch } from './issuer-fetch.ts'
import { exportRun, keysFolder, openArtifacts, restoreRecord, verifyRecord } from './record-files.ts'

export type {
  Attendant,
  ClientConversation,
  Logout,
  Progress,
  Question as ServerQuestion,
  ServerNotification,
} from '#catalog'
export type { Artifacts } from '#record'
export type { Exploration, GraphEdge, GraphNode, Proposal, StandingLine } from '#run'
export type { MissionInfo, TaskInfo } from '#tasks'

export {
  type Approval,
  adviceLines,
  argumentsHandle,
  argumentsLine,
  argumentsText,
  type Caller,
  type Decision,
  DecisionError,
  type DiscoverAnswer,
  decisionFault,
  type ExecuteAnswer,
  exportRun,
  issuerFetch,
  keysFolder,
  lineText,
  mayCallLines,
  openArtifacts,
  originLine,
  originLines,
  type Question,
  type RecordVerbs,
  type ResultAnswer,
  type RunFilter,
  readDecision,
  restoreRecord,
  type SessionKit,
  type Settlement,
  type SpeechListener,
  type Verbs,
  type VerbsOptions,
  verifyRecord,
}

/**
 * One home, opened by halves: what can be read when it is first asked for, what moves runs when
 * that is. Closing either half closes the home.
 */
export type OpenHome = { record(): Promise<RecordVerbs>; verbs(): Promise<Verbs> }

/** `given` is the store where it is open already; it is closed with the rest. */
export function openHome(config: Config, surroundings: VerbsOptions, given?: Store): OpenHome {
  let reading: Promise<{ store: Store; record: RecordVerbs }> | undefined
  let moving: Promise<Verbs> | undefined
  const read = async () => {
    const [{ openStore }, { openRecordVerbs }] = await Promise.all([import('#record'), import('./record-verbs.ts')])
    const { homeOption = '' } = surroundings
    const store = given ?? (await openStore({ home: config.home, homeOption }))
    return { store, record: openRecordVerbs(store, config, surroundings) }
  }
  const readOnce = () => (reading ??= read())
  const move = async () => {
    const [opened, { openMovingVerbs }] = await Promise.all([readOnce(), import('./moving-verbs.ts')])
    return openMovingVerbs(opened, config, surroundings)
  }
  return {
    record: async () => (await readOnce()).record,
    verbs: () => (moving ??= move()),
  }
}

/** Everything at once. */
export function openVerbs(config: Config, surroundings: VerbsOptions, store?: Store): Promise<Verbs> {
  return openHome(config, surroundings, store).verbs()
}
