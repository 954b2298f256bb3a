/**
 * The programs of runs: a graph needs no box, code has one while it moves, and what was
 * delivered to it is read from the run's record.
 */
import { availableParallelism } from 'node:os'
import { type Delivery, limits, type Program, sha256, toText } from '#model'
import type { RunContext } from '#run/calls'
import { checkDag, dagProgram } from '#run/dag'
import { openBoxShare, type Prepared, preparedCached } from '#run/program'
import type { Journal } from '#run/record'
import type { Boxes } from '#sandbox'

/** What was delivered to a program of the run so far, by call. */
export type ReadDeliveries = (program: string) => Promise<Map<number, Delivery>>

export type Programs = {
  root(prepared: Prepared, journal: Journal, deliveries: ReadDeliveries): Program
  /** A program that runs as a call: the same id always gives the same chance. */
  nest(journal: Journal, deliveries: ReadDeliveries): RunContext['nest']
  /** One that belongs to no run: what is delivered to it is remembered here. */
  ephemeral(open: () => Promise<Program>): Program
}

export function openPrograms(boxes: Boxes, isTraced: boolean): Programs {
  const most = Math.min(limits.programsAwakeMax, limits.programsAwakePerCore * availableParallelism())
  const share = openBoxShare({ most, idleMs: limits.programIdleMsMin })
  return {
    root({ program }, { started: { args, seed }, beganAt }, deliveries) {
      if (program.kind === 'made') return program.make()
      const options = { source: program.source, args: toText(args), seed, now: beganAt, isTraced }
      return share.program({ open: () => boxes.program(options), deliveries: () => deliveries('') })
    },
    nest:
      ({ started }, deliveries) =>
      async (source, args, id, now) => {
        if (typeof source !== 'string') return dagProgram(checkDag(source))
        const seed = sha256(`${started.seed} ${id}`)
        const open = async () => boxes.program({ source: preparedCached(source).source, args, seed, now, isTraced })
        return share.program({ open, deliveries: () => deliveries(id) })
      },
    ephemeral(open) {
      const delivered = new Map<number, Delivery>()
      const program = share.program({ open, deliveries: async () => delivered })
      const deliver = (delivery: Delivery) => {
        delivered.set(delivery.call, delivery)
        return program.deliver(delivery)
      }
      return { ...program, deliver }
    },
  }
}

export function deliveriesOf({ deliveries }: Journal, path: string): Map<number, Delivery> {
  const own = deliveries.filter(({ program }) => program === path)
  return new Map(own.map(({ delivery }) => [delivery.call, delivery]))
}
