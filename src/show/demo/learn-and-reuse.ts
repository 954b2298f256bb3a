/**
 * Two steps of the tour: a program that worked becomes a verified capability, and other words
 * recall it with another argument, without a program.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type JsonObject } from '#model'
import type { Caller, Verbs } from '#verbs'

export const learnedIntent = 'what does customer Ada owe, with postage?'
export const reusedIntent = 'how much will customer Grace owe us, postage included?'

export const owedProgram = `
const [{ orders }, { rates }] = await Promise.all([mcp.shop.list_orders({}), mcp.post.list_rates({})]);
const { item, amount } = orders.find((order) => order.customer === 'Ada');
return { item, owes: amount + rates[item] };`

/** The capability that was learned from the program, once it is verified. */
export function whenLearned(verbs: Verbs): Promise<string> {
  return eventually('the program was not learned', async () => {
    const found = verbs.capabilities('verified').find(({ intent }) => intent === learnedIntent)
    return found === undefined ? null : `${found.id}`
  })
}

export type Recalled = { id: string; args: JsonObject }

/** What an intent alone is answered with: here the capability, with the argument that it names. */
export function whenRecalled(verbs: Verbs, caller: Caller): Promise<Recalled> {
  return eventually('the capability was not recalled', async () => {
    const { suggestion } = (await verbs.execute({ intent: reusedIntent }, caller)) as JsonObject
    return (suggestion as { capability?: Recalled } | undefined)?.capability ?? null
  })
}

/** Learning follows the record beside the calls, in its own time. */
async function eventually<Found>(problem: string, find: () => Promise<Found | null>): Promise<Found> {
  for (let i = 0; i < 300; i++) {
    const found = await find()
    if (found !== null) return found
    await pause(100)
  }
  throw new AppError('TOOL_INTERNAL_ERROR', `Cannot go on with the tour: ${problem}`, {})
}
