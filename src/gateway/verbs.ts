/** The part of the verbs that the door opens on: it starts, reads and watches runs, and passes on what humans decide. */
import type { Verbs as AllVerbs } from '#verbs'

export type { Caller } from '#verbs'

export type Verbs = Pick<
  AllVerbs,
  | 'discover'
  | 'execute'
  | 'result'
  | 'exposed'
  | 'whole'
  | 'runs'
  | 'run'
  | 'approvals'
  | 'named'
  | 'whenAnswered'
  | 'answer'
  | 'cancel'
  | 'decide'
  | 'tools'
  | 'recentLedger'
  | 'lines'
  | 'events'
  | 'stats'
  | 'health'
  | 'onChange'
  | 'permissions'
>
