/**
 * All boxes of a process: those that wait for a script, by tier and language, and those that have
 * one.
 */
import type { Box } from '#sandbox/script-box'
import type { BoxExtras, BoxFactory } from './box-factory.ts'
import type { Interpreter } from './interpreter.ts'
import { openPool, type Pool } from './pool.ts'
import type { OpenTier } from './tier.ts'

type Pools = {
  /** A box that waited, or a new one; one with a way out, outputs or a folder is always new. */
  take(tier: OpenTier, interpreter: Interpreter, extras: BoxExtras): Promise<Box>
  /** Resolves when as many wait as should. */
  fill(tier: OpenTier, interpreter: Interpreter): Promise<void>
  /** Stops every box, and resolves when nothing is left of any. */
  close(): Promise<void>
}

export function openPools(factory: () => Promise<BoxFactory>, poolSize: number): Pools {
  const pools = new Map<string, Pool>()
  const boxes = new Set<Box>()
  const opening = new Set<Promise<unknown>>()
  let closed = false

  async function open({ driver }: OpenTier, interpreter: Interpreter, extras?: BoxExtras): Promise<Box> {
    const box = await (await factory()).open(driver, interpreter, extras)
    boxes.add(box)
    void box.gone.then(() => boxes.delete(box))
    if (closed) box.stop('closed')
    return box
  }

  /** close() waits for it. */
  function tracked(...args: Parameters<typeof open>): Promise<Box> {
    const promise = open(...args)
    const settled = promise.then(
      () => {},
      () => {},
    )
    opening.add(settled)
    void settled.then(() => opening.delete(settled))
    return promise
  }

  function poolOf(tier: OpenTier, interpreter: Interpreter): Pool {
    const key = `${tier.tier} ${interpreter}`
    const pool = pools.get(key) ?? openPool(() => tracked(tier, interpreter), poolSize)
    pools.set(key, pool)
    return pool
  }

  return {
    take(tier, interpreter, extras) {
      const isPlain = extras.wayOut === undefined && extras.outputs.length === 0 && extras.workspace === undefined
      return isPlain ? poolOf(tier, interpreter).take() : tracked(tier, interpreter, extras)
    },
    fill: (tier, interpreter) => poolOf(tier, interpreter).fill(),
    async close() {
      closed = true
      for (const pool of pools.values()) pool.close()
      await Promise.all(opening)
      for (const box of boxes) box.stop('closed')
      await Promise.all([...boxes].map((box) => box.gone))
    },
  }
}
