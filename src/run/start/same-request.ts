/**
 * Whether a request is the one that a run was started with, so that its key may answer with that
 * run. The request is brought into the form in which the run's was recorded: secrets replaced by
 * placeholders drawn from the run's seed.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Config, EventBodies, Json, Plan } from '#model'
import type { SealedSecret } from '#record'
import { mockedArguments } from '#run/calls'
import { checkDag } from '#run/dag'
import { modeOf, type RunRequest, redactRequest } from './run-started.ts'

type Recorded = {
  started: EventBodies['run.started'] /** True values, while the run is open. */
  sealed: SealedSecret[]
}

/**
 * Plan, arguments, mode and mocks count; intent, budget and permissions do not. Placeholders stand
 * for secrets by their order, so two secrets are told apart only while the run is open and keeps
 * their true values.
 */
export function isSameRequest(request: RunRequest, { started, sealed }: Recorded, config: Config): boolean {
  const { clean, seals } = redactRequest(request, started.seed, config)
  const { plan, args, mocks, maxBranches } = clean
  const asked = [
    plan.kind,
    sourceOf(plan),
    mockedArguments(args, mocks?.args),
    modeOf(mocks, maxBranches),
    mocks,
    maxBranches,
  ]
  const { plan: before, args: known, mode, mocks: mocked, maxBranches: branches } = started
  if (!isDeepStrictEqual(asked, [before.kind, before.source, known, mode, mocked, branches])) return false
  return seals.every(([placeholder, value]) => {
    const same = sealed.find((one) => one.placeholder === placeholder)
    return same === undefined || same.value === value
  })
}

function sourceOf(plan: Plan): Json {
  if (plan.kind === 'agent') return plan.agent
  return plan.kind === 'code' ? plan.code : checkDag(plan.tasks)
}
