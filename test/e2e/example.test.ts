/** The examples are programs that check themselves: they are run as a reader would run them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { hostsMissing, mcpServerPrograms, root, whyNot } from '#test'

const skip =
  hostsMissing || (existsSync(mcpServerPrograms) ? false : 'needs mcp-servers: node scripts/services.ts up mcp-servers')

test('examples/through-a-host.ts: discover, run, approve, kill -9, resume and verify through Claude Code', {
  skip,
  timeout: 300_000,
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'examples', 'through-a-host.ts')])
  assert.deepEqual(stdout.match(/^\d/gm), ['1', '2', '3', '4', '5', '6'], stdout)
  assert.match(stdout, /Nothing was done twice/)
})

const unboxed =
  whyNot('os') || (existsSync(mcpServerPrograms) ? false : 'needs mcp-servers: node scripts/services.ts up mcp-servers')

test('examples/server-in-a-box.ts: a server reads one folder, writes another, and finds nothing else', {
  skip: unboxed,
  timeout: 300_000,
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'examples', 'server-in-a-box.ts')])
  assert.deepEqual(stdout.match(/^\d/gm), ['1', '2', '3', '4', '5'], stdout)
})

test('examples/mission.ts: three tasks, a script and two artifacts over kill -9, with nothing created twice', {
  skip: whyNot('os'),
}, async () => {
  const everyEvent = process.env.LONG === '1' ? ['--every-event'] : []
  const words = [join(root, 'examples', 'mission.ts'), ...everyEvent]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  const box = whyNot('gvisor') === false ? 'gVisor' : 'bubblewrap, since gVisor is not there'
  assert.match(stdout, new RegExp(`1 SQLite and a folder: the sum is 42, from a script in ${box}, over`))
  assert.match(stdout, /1 Neo4j and S3: the sum is 42|Neo4j and S3: not tried \(needs/)
  assert.match(stdout, /3 \d+ events verify/)
})

test('examples/agent.ts: a session of each protocol, whose books verify until a byte is changed', {
  skip: whyNot('os'),
}, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'examples', 'agent.ts')])
  assert.deepEqual(stdout.match(/^\d/gm), ['1', '2', '3', '4', '5'], stdout)
})
