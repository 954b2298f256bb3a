/**
 * Long writes come in parts: their lines and hashes are made while the rest is on its way, and wait
 * for the commit.
 */
import type { Ledger, PrecomputedLines, Request } from '#record/ledger'
import { lineHash, lineText } from '#record/ledger'
import { type PackedRequest, unpack } from './packing.ts'
import type { Part } from './writer-protocol.ts'

type GatheredParts = Pick<Part, 'types' | 'ats' | 'bodies'> & { made: (PrecomputedLines & { at: number }) | null }

type Parts = {
  keep(part: Part): void
  /** The request, together with the parts of it that came before. */
  complete(packed: PackedRequest): Request
  /** The same, with its lines made already. */
  prepare(packed: PackedRequest): Request
}

export function openParts(ledger: Ledger): Parts {
  const kept = new Map<string, GatheredParts>()
  const keyOf = ({ run, epoch }: { run: string; epoch: number }) => `${run} ${epoch}`

  function keep(part: Part): void {
    const { types, ats, bodies, made } = kept.get(keyOf(part)) ?? { types: [], ats: [], bodies: [], made: start(part) }
    kept.set(keyOf(part), {
      types: types.concat(part.types),
      ats: ats.concat(part.ats),
      bodies: bodies.concat(part.bodies),
      made,
    })
    if (made) makeLines(made, part)
  }

  /**
   * Where the head before them is not known yet, because it waits for a commit itself, they are
   * made later.
   */
  function start({ run, epoch, after }: Pick<Part, 'run' | 'epoch' | 'after'>): GatheredParts['made'] {
    const head = ledger.owned.get(run)
    if (head?.epoch !== epoch || head.n !== after) return null
    return { from: head.hash, at: head.at, lines: [], hashes: [] }
  }

  function complete(packed: PackedRequest): Request {
    const request = unpack(packed)
    const { ask } = request
    const first = kept.size > 0 && ask.kind === 'chain' ? kept.get(keyOf(ask)) : undefined
    if (!first || ask.kind !== 'chain') return request
    kept.delete(keyOf(ask))
    const { types, ats, bodies, blobs } = ask.entries
    ask.entries = {
      types: first.types.concat(types),
      ats: first.ats.concat(ats),
      bodies: first.bodies.concat(bodies),
      blobs,
      made: first.made,
    }
    return request
  }

  function prepare(packed: PackedRequest): Request {
    const request = complete(packed)
    const { ask } = request
    if (ask.kind !== 'chain' || ask.entries.made) return request
    const made = start(ask)
    if (made) makeLines(made, { run: ask.run, after: ask.after, ...ask.entries })
    ask.entries.made = made
    return request
  }

  return { keep, complete, prepare }
}

function makeLines(made: PrecomputedLines & { at: number }, part: Omit<Part, 'epoch'>): void {
  const { run, after, types, ats, bodies } = part
  for (const [i, type] of types.entries()) {
    made.at = Math.max(made.at, ats[i]!)
    const line = lineText(run, after + i + 1, made.at, type, bodies[i]!)
    made.hashes.push(lineHash(made.hashes.at(-1) ?? made.from, line))
    made.lines.push(line)
  }
}
