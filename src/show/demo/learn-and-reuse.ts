/**
 * Two steps of the tour: a program that worked becomes a verified capability, and other words
 * recall it with another argument, without a program.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type JsonObject } from '#model'
import { good } from '#show/cli'
import type { Caller, Verbs } from '#verbs'
import { must, program, type Show } from './step.ts'

const learnedIntent = 'what does customer Ada owe, with postage?'
const reusedIntent = 'how much will customer Grace owe us, postage included?'

const owedProgram = `
const [{ orders }, { rates }] = await Promise.all([mcp.shop.list_orders({}), mcp.post.list_rates({})]);
const { item, amount } = orders.find((order) => order.customer === 'Ada');
return { item, owes: amount + rates[item] };`

export async function learnAndReuse(verbs: Verbs, caller: Caller, show: Show) {
  const implementation = { type: 'code', code: owedProgram }
  const taught = must(await verbs.execute({ intent: learnedIntent, implementation }, caller), 'done')
  const capability = await whenLearned(verbs)
  show(
    '6. learn',
    `“${learnedIntent}”`,
    ...program(owedProgram),
    `→ ${JSON.stringify(taught.result)}`,
    `${good('✓')} ${capability} is verified: with “Ada” made a parameter, the program was played again`,
    'against the record of this run, issued the same calls, and came to the same result.',
  )
  const { id, args } = await whenRecalled(verbs, caller)
  const reused = must(await verbs.execute({ implementation: { type: 'capability', id }, args }, caller), 'done')
  const recalled = `${id} ${JSON.stringify(args)}`
  show('7. reuse', `“${reusedIntent}”, and no program`, recalled, `→ ${JSON.stringify(reused.result)}`)
  return { learn: { ...taught, capability }, reuse: { ...reused, capability: id, args } }
}

/** The capability that was learned from the program, once it is verified. */
function whenLearned(verbs: Verbs): Promise<string> {
  return eventually('the program was not learned', async () => {
    const found = verbs.capabilities('verified').find(({ intent }) => intent === learnedIntent)
    return found === undefined ? null : `${found.id}`
  })
}

type Recalled = { id: string; args: JsonObject }

/** What an intent alone is answered with: here the capability, with the argument that it names. */
function whenRecalled(verbs: Verbs, caller: Caller): Promise<Recalled> {
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
