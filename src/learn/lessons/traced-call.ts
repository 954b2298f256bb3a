/** A call as learning sees it: what it was given, what it answered, and when. */
import type { Json } from '#model'

type TracedCall = { id: string; tool: string; args: Json; result?: Json }

/** The calls of one run in the order in which they were issued, with the words it was asked in. */
export type Trace = { intent: string; calls: readonly TracedCall[] }
