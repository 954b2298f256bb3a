/**
 * What every queue keeps: a try is made once, its outcome finds the one who handed it over, and a
 * cancel finds the one who makes it.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { AppError, newId, type ProcessId, type RunId, type Tool, type Try } from '#model'
import type { Maker, Work, WorkQueue } from '#run'

export type QueueUnderTest = {
  queue: WorkQueue
  /** A process that handed work over, died, and left something running for so long. */
  deadOwner(ms: number): { owner: ProcessId; isAlive(): boolean }
}

/** A queue whose makers do as they are told. */
export type OpenQueue = (t: TestContext, make: Maker) => Promise<QueueUnderTest>

const run = newId<RunId>()
const tool = { id: 'w:step', server: 'w', name: 'step', effect: 'unsafe' } as Tool
const never = new AbortController().signal

const workOf = (call: string, attempt = 1): Work => ({ run, call, attempt, tool, args: { call }, timeoutMs: 1000 })
/** A record that takes everything. */
const recorded = async () => true
const answer = (value: string): Try => ({ outcome: 'answered', ok: true, value })

/** Makers that wait until the test says what became of each try. */
function byHand(): {
  make: Maker
  begun: string[]
  signals: AbortSignal[]
  end(name: string, outcome: Try | Error): void
} {
  const open = new Map<string, PromiseWithResolvers<Try>>()
  const begun: string[] = []
  const signals: AbortSignal[] = []
  const make: Maker = async ({ call, attempt }, signal, commit) => {
    if (!(await commit())) return { outcome: 'not_sent', error: new AppError('CANCELLED', 'it was ended') }
    begun.push(`${call} ${attempt}`)
    signals.push(signal)
    const waiting = Promise.withResolvers<Try>()
    open.set(`${call} ${attempt}`, waiting)
    return waiting.promise
  }
  const end = (name: string, outcome: Try | Error) => {
    if (outcome instanceof Error) open.get(name)!.reject(outcome)
    else open.get(name)!.resolve(outcome)
  }
  return { make, begun, signals, end }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

export function queueContract(name: string, open: OpenQueue): void {
  describe(`queue: ${name}`, { timeout: 10_000 }, () => {
    test('hand() gives a maker the work as it is, and gives its outcome back', async (t) => {
      const seen: Work[] = []
      const { queue } = await open(t, async (work) => {
        seen.push(work)
        return answer('done')
      })
      assert.deepEqual(await queue.submit(workOf('1'), never, recorded), answer('done'))
      assert.deepEqual(seen, [workOf('1')])
    })

    test('a try that is handed over twice while it is under way is made once, and both hear of it', async (t) => {
      const { make, begun, end } = byHand()
      const { queue } = await open(t, make)
      const both = Promise.all([queue.submit(workOf('1'), never, recorded), queue.submit(workOf('1'), never, recorded)])
      await until(() => begun.length > 0)
      assert.deepEqual(begun, ['1 1'])
      end('1 1', answer('once'))
      assert.deepEqual(await both, [answer('once'), answer('once')])
      const again = queue.submit(workOf('1', 2), never, recorded)
      await until(() => begun.length > 1)
      end('1 2', answer('another try'))
      assert.deepEqual(await again, answer('another try'))
      assert.deepEqual(begun, ['1 1', '1 2'])
    })

    test('outcomes come in any order, each to its own try', async (t) => {
      const { make, begun, end } = byHand()
      const { queue } = await open(t, make)
      const calls = ['1', '2', '3.1', '3.2']
      const handed = calls.map((call) => queue.submit(workOf(call), never, recorded))
      await until(() => begun.length === calls.length)
      for (const call of calls.toReversed()) end(`${call} 1`, answer(call))
      assert.deepEqual(await Promise.all(handed), calls.map(answer))
    })

    test('a maker that is lost with its try leaves it unknown, never rejected, and takes no other with it', async (t) => {
      const { make, begun, end } = byHand()
      const { queue } = await open(t, make)
      const lost = queue.submit(workOf('1'), never, recorded)
      const other = queue.submit(workOf('2'), never, recorded)
      await until(() => begun.length === 2)
      end('1 1', new Error('the worker is gone'))
      const outcome = await lost
      assert.equal(outcome.outcome, 'unknown')
      assert.match(String(outcome.outcome === 'unknown' && outcome.error.message), /worker is gone/)
      end('2 1', answer('alive'))
      assert.deepEqual(await other, answer('alive'))
    })

    test('a cancel reaches the maker, whose word still counts', async (t) => {
      const { make, begun, signals, end } = byHand()
      const { queue } = await open(t, make)
      const cancel = new AbortController()
      const handed = queue.submit(workOf('1'), cancel.signal, recorded)
      await until(() => begun.length === 1)
      cancel.abort()
      await until(() => signals[0]!.aborted)
      end('1 1', answer('too late to cancel'))
      assert.deepEqual(await handed, answer('too late to cancel'))
    })

    test('what is cancelled before it is handed over is not sent, and reaches nobody', async (t) => {
      const { make, begun } = byHand()
      const { queue } = await open(t, make)
      const outcome = await queue.submit(workOf('1'), AbortSignal.abort(), recorded)
      assert.equal(outcome.outcome, 'not_sent')
      assert.ok(outcome.outcome === 'not_sent' && outcome.error instanceof AppError)
      assert.deepEqual(begun, [])
    })

    test('a maker that is lost before the commit has sent nothing', async (t) => {
      const commits: string[] = []
      const { queue } = await open(t, async () => {
        throw new Error('no slot will ever be free')
      })
      const outcome = await queue.submit(workOf('1'), never, async () => commits.push('1') > 0)
      assert.deepEqual([outcome.outcome, commits], ['not_sent', []])
    })

    test('a try is committed once, when its maker is ready to send it, and one that is refused then is not sent', async (t) => {
      const order: string[] = []
      const { queue } = await open(t, async ({ call }, _, commit) => {
        order.push(`slot ${call}`)
        if (!(await commit())) return { outcome: 'not_sent', error: new AppError('CANCELLED', 'it was ended') }
        order.push(`sent ${call}`)
        return answer(call)
      })
      const commitAs = (call: string, isOpen: boolean) => async () => {
        order.push(`commit ${call}`)
        return isOpen
      }
      assert.deepEqual(await queue.submit(workOf('1'), never, commitAs('1', true)), answer('1'))
      assert.equal((await queue.submit(workOf('2'), never, commitAs('2', false))).outcome, 'not_sent')
      assert.deepEqual(order, ['slot 1', 'commit 1', 'sent 1', 'slot 2', 'commit 2'])
    })

    test('leftovers() resolves when nothing of a dead owner is alive any more', async (t) => {
      const { queue, deadOwner } = await open(t, async () => answer('unused'))
      await queue.leftovers(newId<ProcessId>())
      const { owner, isAlive } = deadOwner(300)
      assert.ok(isAlive())
      await queue.leftovers(owner)
      assert.ok(!isAlive())
    })
  })
}
