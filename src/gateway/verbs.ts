/** The part of the verbs that the door opens on: it starts, reads and watches runs, and decides nothing. */
import type { Verbs as AllVerbs } from '#verbs'

export type { Caller } from '#verbs'

export type Verbs = Pick<
  AllVerbs,
  | 'discover'
  | 'execute'
  | 'result'
  | 'exposed'
  | 'runs'
  | 'run'
  | 'approvals'
  | 'tools'
  | 'ledger'
  | 'events'
  | 'onChange'
>
