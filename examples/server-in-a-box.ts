/**
 * A file server that others wrote, in a box: it reads one folder, writes another, and reaches
 * nothing. It checks itself.
 *
 *   node scripts/services.ts up bubblewrap mcp-servers     (once, outside the repository)
 *   node examples/server-in-a-box.ts
 *
 * The server is told to serve the whole disk. That it does not is the box, not its own good will.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { mcpServerPrograms, metier } from '#test'

const say = (line: string) => console.log(line)

const folder = mkdtempSync(join(tmpdir(), 'metier-example-'))
const [papers, drafts, elsewhere] = ['papers', 'drafts', 'elsewhere'].map((name) => join(folder, name))
for (const one of [papers!, drafts!, elsewhere!]) mkdirSync(one)
writeFileSync(join(papers!, 'plan.txt'), 'the plan')
writeFileSync(join(elsewhere!, 'diary.txt'), 'nobody must read this')

const file = join(folder, 'metier.json')
const files = {
  command: process.execPath,
  args: [join(mcpServerPrograms, 'mcp-server-filesystem'), '/'],
  sandbox: { tier: 'os', folders: [papers], write: [drafts], hosts: [] },
}
writeFileSync(file, JSON.stringify({ mcpServers: { files }, policy: { permissions: 'privileged' } }, null, 2))
const space = { folder, file, home: join(folder, '.metier'), witness: '', opened: [] }

/** What the call answers, or why it failed. */
async function call(tool: string, args: object): Promise<string> {
  const { json, stdout, stderr } = await metier(space, ['call', `files:${tool}`, JSON.stringify(args), '--json'])
  assert(json !== null, stdout + stderr)
  return JSON.stringify(json.status === 'done' ? json.result : json.error.message)
}

try {
  assert(existsSync(dirname(mcpServerPrograms)), 'needs mcp-servers: node scripts/services.ts up mcp-servers')
  const { stdout } = await metier(space, ['servers'])
  say(`1 ${stdout.trim()}`)
  assert.match(stdout, /box \(os\)/)

  assert.match(await call('read_text_file', { path: join(papers!, 'plan.txt') }), /the plan/)
  say('2 It reads the folder that is named.')

  await call('write_file', { path: join(drafts!, 'answer.txt'), content: 'yes' })
  assert.equal(readFileSync(join(drafts!, 'answer.txt'), 'utf8'), 'yes')
  say('3 It writes where it may.')

  const refused = await call('write_file', { path: join(papers!, 'plan.txt'), content: 'another plan' })
  assert.match(refused, /the server runs in a box \(os\)/)
  assert.equal(readFileSync(join(papers!, 'plan.txt'), 'utf8'), 'the plan')
  say('4 It does not write where it only reads, and the model is told why.')

  for (const path of [join(elsewhere!, 'diary.txt'), '/etc/shadow', join(homedir(), '.ssh'), join(folder, '.metier')])
    assert.match(await call('read_text_file', { path }), /the server runs in a box/, path)
  say('5 Nothing else of this machine is there for it: not the next folder, not your keys, not the record.')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
