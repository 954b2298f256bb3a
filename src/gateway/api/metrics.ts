/**
 * The figures of the record and of this process in the text of Prometheus, read when they are asked
 * for.
 */
import type { ServerResponse } from 'node:http'
import { runStatuses } from '#model'
import type { Verbs } from '#verbs'

type Sample = { labels?: Record<string, string>; value: number }
type Family = { name: string; type: 'gauge' | 'counter'; help: string; samples: Sample[] }

/** All of them, so that none appears out of nowhere. */
const statuses = runStatuses.filter((status) => status !== 'suggested')

export function sendMetrics(response: ServerResponse, verbs: Verbs, version: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
  response.end([...recordFamilies(verbs, version), ...processFamilies()].map(textOf).join(''))
}

/** What was purged is counted no longer, so these may fall. */
function recordFamilies(verbs: Verbs, version: string): Family[] {
  const { events, runs, calls, bytes } = verbs.stats()
  const byStatus = statuses.map((status) => ({ labels: { status }, value: runs[status] ?? 0 }))
  return [
    gauge('metier_info', 'Always 1; its label says which version this is.', [{ labels: { version }, value: 1 }]),
    gauge('metier_runs', 'Runs on the record, by status.', byStatus),
    gauge('metier_calls', 'Calls on the record.', [{ value: calls }]),
    gauge('metier_approvals_open', 'Questions that wait for a human.', [{ value: verbs.approvals().length }]),
    gauge('metier_record_events', 'Events on the record.', [{ value: events }]),
    gauge('metier_record_bytes', 'Size of the database, without large values and artifacts.', [{ value: bytes }]),
  ]
}

function processFamilies(): Family[] {
  const { rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const start = Date.now() / 1000 - process.uptime()
  return [
    gauge('process_resident_memory_bytes', 'Memory of this process.', [{ value: rss }]),
    gauge('process_start_time_seconds', 'When this process began, in seconds since 1970.', [{ value: start }]),
    {
      name: 'process_cpu_seconds_total',
      type: 'counter',
      help: 'CPU time of this process.',
      samples: [{ value: (user + system) / 1e6 }],
    },
  ]
}

function gauge(name: string, help: string, samples: Sample[]): Family {
  return { name, type: 'gauge', help, samples }
}

function textOf({ name, type, help, samples }: Family): string {
  const lines = samples.map(({ labels = {}, value }) => `${name}${labelsText(labels)} ${value}`)
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

function labelsText(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}
