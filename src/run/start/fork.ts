/**
 * A run that goes another way from one of its calls on: what came before is taken from the record,
 * what follows is made again.
 */
import {
  type Config,
  type Event,
  type EventBodies,
  type Json,
  RawJson,
  type RunId,
  type Stored,
  splitToolId,
  toText,
} from '#model'
import { type Chain, loadSecrets, type SealedSecret } from '#record'
import { narrower } from '#run/policy'
import type { Prepared } from '#run/program'
import { type Journal, parseCallId } from '#run/record'
import { collectSeals, narrowBudget, secretsOf } from './run-started.ts'

const { placeholderSeed } = await loadSecrets()

type Started = EventBodies['run.started']
type ForkInput = { prepared: Prepared; config: Config; sealed: SealedSecret[] }

/**
 * It begins as the run did that it leaves, with no more than is given today, and with the secrets
 * of that run that are still kept.
 */
export function forkedBody(run: RunId, origin: Journal, left: Started['forkedFrom'] & {}, given: ForkInput) {
  const { key: _, speculated: __, ...same } = origin.started
  const { prepared, config, sealed } = given
  const { seals, ...sealing } = collectSeals(sealed)
  const forkedFrom = { ...left, startedAt: new Date(origin.beganAt).toISOString() }
  const started: Started = {
    ...same,
    forkedFrom,
    permissions: narrower(same.permissions, config.policy.permissions),
    budget: narrowBudget(config.budget, same.budget),
    engine: prepared.engine,
    isolation: prepared.isolation,
  }
  if (left.args === undefined) return { started, seals }
  const secrets = secretsOf(placeholderSeed(started, run), sealing, config)
  const server = splitToolId(origin.calls.get(left.at)?.tool ?? '')?.server ?? 'metier'
  const args = secrets.hide(secrets.reveal(left.args as Json, server).value, server)
  return { started: { ...started, forkedFrom: { ...forkedFrom, args } }, seals }
}

type Copied = Event<'call.issued' | 'call.resolved'>

/** The arguments that a call gets in place of the program's, where the run was forked there. */
export function editOf({ forkedFrom }: Started, id: string): { edited?: string } {
  return forkedFrom?.at === id && forkedFrom.args !== undefined ? { edited: toText(forkedFrom.args) } : {}
}

/** The calls before the fork, with those of programs that ran as one of them. */
export function eventsBefore(events: Event[], at: number): Copied[] {
  const isCopied = (event: Event): event is Copied => event.type === 'call.issued' || event.type === 'call.resolved'
  const resolved = new Set(events.flatMap((event) => (event.type === 'call.resolved' ? [event.body.call] : [])))
  return events.filter(isCopied).filter(({ body }) => topOf(body.call) < at && resolved.has(body.call))
}

function topOf(id: string): number {
  const { program, number } = parseCallId(id)
  return program === '' ? number : topOf(program)
}

/** Results keep their exact bytes and their time; the record says that they came from it. */
export function copyEvents(chain: Chain, events: Copied[], text: (member: Stored<unknown>) => string): void {
  for (const event of events) {
    if (event.type === 'call.issued') {
      const { args, edited, ...issued } = event.body
      const more = edited === undefined ? {} : { edited: new RawJson(text(edited)) }
      chain.append('call.issued', { ...issued, args: new RawJson(text(args)), ...more })
      continue
    }
    const { value, answer, arrivedAt = event.at, ...resolved } = event.body
    const exact = {
      ...(value === undefined ? {} : { value: new RawJson(text(value)) }),
      ...(answer === undefined ? {} : { answer: new RawJson(text(answer)) }),
    }
    chain.append('call.resolved', { ...resolved, ...exact, by: 'record', arrivedAt })
  }
}
