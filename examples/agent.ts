/**
 * Two sessions of the agent, one of each protocol, with a model whose answers are written below:
 * each answers a question about a file by a script that it writes itself.
 *
 *   node examples/agent.ts [FOLDER]
 *
 * It checks itself, and says what it saw. In FOLDER, a new one, both sessions are left to be looked
 * at: the project with its scripts, outputs, ledger, manifests and transcript, and a page of each.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const metier = join(dirname(import.meta.dirname), 'bin', 'metier')
const [kept] = process.argv.slice(2)
const folder = kept === undefined ? mkdtempSync(join(tmpdir(), 'metier-agent-')) : resolve(kept)
if (kept !== undefined) mkdirSync(folder)
const project = join(folder, 'project')
mkdirSync(project)
writeFileSync(join(project, 'orders.csv'), 'id,total\n1,19\n2,23\n')
writeFileSync(join(folder, 'metier.json'), '{ "mcpServers": {} }')

/** The model asks for a script, looks at what it printed, and says what it found. */
const sum = 'import csv\nprint(sum(int(row["total"]) for row in csv.DictReader(open("orders.csv"))))\n'
const rebound = [
  {
    thought_process: 'I add up the column instead of guessing.',
    artifacts: [{ path: 'workbench/scripts/sum.py', content: sum }],
    next_action: {
      type: 'exec_and_chain',
      target_script: 'workbench/scripts/sum.py',
      continuation_prompt: 'The sum of all orders:',
    },
  },
  {
    thought_process: 'The script printed 42.',
    artifacts: [{ path: 'report.md', content: '# Orders\n\nThe total is 42.\n' }],
    next_action: null,
    final_result: 'The orders come to 42; report.md says so.',
  },
]
const glassBox = [`I look.\n<tool_code>\n${sum}</tool_code>`, 'The orders come to 42.']

function session(name: string, protocol: string, answers: unknown[]) {
  const file = join(folder, `${name}.json`)
  writeFileSync(file, JSON.stringify(answers))
  const goal = 'What do the orders come to?'
  return run('agent', goal, '--protocol', protocol, '--model', `scripted:${file}`, '--workspace', project)
}

function run(...words: string[]) {
  const where = ['--home', join(folder, 'home'), '--config', join(folder, 'metier.json'), '--json', '--quiet']
  return JSON.parse(execFileSync(metier, [...words, ...where], { encoding: 'utf8' }))
}

try {
  const first = session('rebound', 'rebound', rebound)
  assert.equal(first.result.text, 'The orders come to 42; report.md says so.')
  assert.equal(readFileSync(join(project, 'report.md'), 'utf8'), '# Orders\n\nThe total is 42.\n')
  console.log(`1 rebound: ${first.result.text} ${first.steps} steps, ${first.result.files.length} files`)

  const second = session('glass-box', 'tool_code', glassBox)
  const [step] = readdirSync(join(project, 'artifacts'))
  const output = readFileSync(join(project, 'artifacts', step!, 'tool_output.txt'), 'utf8')
  assert.equal(output, 'returncode: 0\n\n[STDOUT]\n42\n\n[STDERR]\n\n')
  console.log(`2 glass box: ${second.result.text} artifacts/${step} has the script and its output`)

  for (const { session } of [first, second]) assert.equal(run('session', 'verify', session).ok, true)

  const auditor = join(dirname(import.meta.dirname), 'test', 'session-auditor.ts')
  const audit = (session: string) =>
    execFileSync(process.execPath, [auditor, project, session], { encoding: 'utf8', stdio: 'pipe' })
  const links = audit(first.session).trim().split('\n')
  assert.match(links.at(-1)!, /final result: The orders come to 42/)
  audit(second.session)
  console.log(`3 an auditor that knows only the two specifications finds ${links.length} links from goal to result`)

  const report = readFileSync(join(project, 'report.md'), 'utf8')
  writeFileSync(join(project, 'report.md'), report.replace('42', '43'))
  assert.throws(() => run('session', 'verify', first.session), { status: 7 })
  assert.throws(() => audit(first.session), { status: 7 })
  writeFileSync(join(project, 'report.md'), report)
  console.log('4 both verify; a changed byte in report.md is noticed')

  for (const [name, { session }] of Object.entries({ rebound: first, 'glass-box': second })) {
    const archive = join(folder, `${name}.tar.gz`)
    run('session', 'export', session, '-o', archive)
    mkdirSync(join(folder, name))
    execFileSync('tar', ['xzf', archive, '-C', join(folder, name)])
    assert.match(readFileSync(join(folder, name, 'session.html'), 'utf8'), /<h1>What do the orders come to\?<\/h1>/)
  }
  const where = kept === undefined ? '' : `: open ${join(kept, 'rebound', 'session.html')}`
  console.log(`5 each is exported, with a page to read${where}`)
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true })
}
