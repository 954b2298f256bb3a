/**
 * Where chains end: the last event of each, and of those that we own, with what their next write
 * asserts.
 */

/** `seq` is its place in the order of arrival. */
export type Head = { n: number; hash: string; at: number; seq: number | null }

export type OwnedHead = Head & { id: number; epoch: number }

/** Heads of the runs that we own, as we left them. */
export type OwnedHeads = Map<string, OwnedHead>
