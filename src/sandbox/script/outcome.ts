/** What became of a script: its result, or the one code that says why there is none. */
import { AppError, type IsolationReport, limits } from '#model'
import type { End, MissingOutput, ScriptOutput } from '#sandbox/script-box'
import type { CheckedRequest } from './request.ts'

export type ScriptResult = {
  /** The script's own; another than 0 is a result too. */
  exitCode: number
  stdout: string
  stderr: string
  /** Whether some output was too long to be kept. */
  truncated: boolean
  /** Whether more time was asked for than there is. */
  clamped: boolean
  ms: number
  firstByteMs: number | null
  isolation: IsolationReport
  /** Of the files that were named: what was given away, and why the others were not. */
  outputs: ScriptOutput[]
  missing: MissingOutput[]
}

/**
 * Nothing of it is the script's own word: what a script printed cannot make it look like something
 * else.
 */
type Verdict = {
  code: 'SANDBOX_TIMEOUT' | 'SANDBOX_RESOURCE_LIMIT' | 'SANDBOX_EXECUTION_FAILED' | 'CANCELLED'
  why: string
}

type Outcome = Omit<ScriptResult, 'outputs' | 'missing'>

export function outcomeOf(end: End, { timeoutMs, clamped }: CheckedRequest, isolation: IsolationReport): Outcome {
  const { stdout, stderr, ms, firstByteMs } = end
  const truncated = stdout.truncated || stderr.truncated
  const verdict = verdictOn(end, timeoutMs / 1000)
  if (verdict === null) {
    const outputs = { stdout: stdout.text(), stderr: stderr.text() }
    return { exitCode: end.exitCode!, ...outputs, truncated, clamped, ms, firstByteMs, isolation }
  }
  const start = (text: typeof stdout) => text.text(limits.scriptErrorOutputBytesMax)
  const outputs = { stdout: start(stdout), stderr: start(stderr), truncated }
  const context = { ...outputs, tier: isolation.tier, timeoutSeconds: timeoutMs / 1000, clamped }
  throw new AppError(verdict.code, `Cannot finish the script: ${verdict.why}`, context)
}

/**
 * Memory first: a script whose child was killed for it may well have waited for that child until
 * its time was over.
 */
function verdictOn({ stopped, outOfMemory, exitCode, died, outputs }: End, seconds: number): Verdict | null {
  if (stopped === 'cancelled') return { code: 'CANCELLED', why: 'it was cancelled' }
  if (stopped === 'closed') return { code: 'CANCELLED', why: 'the sandbox was closed' }
  if (outOfMemory || stopped === 'memory') {
    const most = limits.scriptMemoryBytesMax / 1024 / 1024
    return {
      code: 'SANDBOX_RESOURCE_LIMIT',
      why: `it needed more than ${most} MB of memory; let it hold less at a time`,
    }
  }
  if (stopped === 'flood') {
    const most = limits.scriptFloodBytesMax / 1024 / 1024
    return { code: 'SANDBOX_RESOURCE_LIMIT', why: `it printed more than ${most} MB; let it print less` }
  }
  if (stopped === 'timeout') {
    return { code: 'SANDBOX_TIMEOUT', why: `it ran longer than ${seconds} s; make it faster, or allow it more time` }
  }
  if (exitCode === null) return { code: 'SANDBOX_EXECUTION_FAILED', why: `its box died (${died}); run it again` }
  if (outputs instanceof Error || stopped === 'outputs') {
    const late = `not within ${limits.scriptOutputFilesMsMax / 1000} s`
    const why = outputs instanceof Error && stopped === null ? outputs.message : late
    return { code: 'SANDBOX_EXECUTION_FAILED', why: `its files could not be handed out (${why}); run it again` }
  }
  return null
}
