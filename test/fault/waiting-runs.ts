/**
 * A process that starts many runs at once and tells when all of them wait for a human; then it
 * waits to be killed.
 */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseConfig } from '#model'
import { openVerbs } from '#verbs'

const [file, home, plans] = process.argv.slice(2) as [string, string, string]
const config = parseConfig({ file, text: readFileSync(file, 'utf8'), home, env: process.env, directory: dirname(file) })
const verbs = await openVerbs(config, { path: process.env.PATH! })
const caller = { actor: { kind: 'cli' as const, name: 'test' }, waitMs: null }
const requests = JSON.parse(readFileSync(plans, 'utf8')) as object[]
const answers = await Promise.all(requests.map((request) => verbs.execute(request, caller)))
const statuses = new Set(answers.map(({ status }) => status))
console.log(JSON.stringify({ statuses: [...statuses], residentBytes: process.memoryUsage().rss }))
setInterval(() => {}, 1000)
