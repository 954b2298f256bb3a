/**
 * What a test process tells the gate: one line of JSON for each test, and one at the end, so that a
 * missing end is a crash.
 */
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

export type Outcome = 'passed' | 'failed' | 'skipped'
export type TestReport = { name: string; outcome: Outcome; line: number; reason?: string }
export type ReportLine = TestReport | { note: string } | { end: true }

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const path: string[] = []
  for await (const event of events) {
    for (const line of linesOf(event, path)) yield `${JSON.stringify(line)}\n`
  }
}

function linesOf(event: TestEvent, path: string[]): ReportLine[] {
  if (event.type === 'test:start') path[event.data.nesting] = event.data.name
  if (event.type === 'test:diagnostic' && event.data.nesting === 0) return [{ note: event.data.message }]
  if (event.type === 'test:summary') return [{ end: true }]
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return []

  const { details, nesting, skip, todo, line = 0 } = event.data
  const name = path.slice(0, nesting + 1).join(' > ')
  if (skip !== undefined || todo !== undefined) {
    return [{ name, outcome: 'skipped', line, reason: reasonOf(skip) ?? reasonOf(todo) ?? 'no reason given' }]
  }
  const error = 'error' in details ? details.error : undefined
  // A suite, and a test that failed through its subtests, would count the same thing twice.
  if (isRepeated(error) || (details.type === 'suite' && !error)) return []
  if (!error) return [{ name, outcome: 'passed', line }]
  return [{ name, outcome: 'failed', line, reason: inspect(error.cause ?? error) }]
}

function isRepeated(error: unknown): boolean {
  return (error as { failureType?: string } | undefined)?.failureType === 'subtestsFailed'
}

function reasonOf(mark: string | boolean | undefined): string | undefined {
  return typeof mark === 'string' && mark !== '' ? mark : undefined
}
