/** Sessions of the agent as a person runs them, with models that say what a test wrote down. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sha256 } from '#model'
import {
  runAgent as agent,
  lastAnswer as last,
  metier,
  openSpace,
  agentProject as project,
  scriptAnswer as script,
  whyNot,
} from '#test'

const skip = whyNot('os')
/** Where something raw stands in the record. */
type Ref = { n: number; member: string; sha256: string }

const action = (script: string, prompt = 'Go on.') => ({
  type: 'exec_and_chain',
  target_script: `workbench/scripts/${script}`,
  continuation_prompt: prompt,
})
test('a session writes, runs, hears and ends; its books verify, and one changed byte anywhere is noticed', {
  skip,
}, async (t) => {
  const space = project(t, [
    script('sum.py', "print(sum(map(int, open('data.txt'))))", 'What is the sum?'),
    'no JSON',
    last('It is 6.'),
  ])
  writeFileSync(join(space.project, 'data.txt'), '1\n2\n3\n')
  const { code, json } = await agent(space, 'Add up data.txt')
  assert.equal(code, 0, JSON.stringify(json))
  assert.partialDeepStrictEqual(json, {
    status: 'done',
    steps: 3,
    result: { text: 'It is 6.' },
    workspace: space.project,
  })
  assert.deepEqual(
    json.result.files.map(({ path }: { path: string }) => path),
    ['workbench/scripts/sum.py'],
  )
  const { session } = json
  const verbs = await openSpace(space)
  const asked = verbs
    .eventsOf(session, { type: 'call.issued' })
    .map(({ body }) => JSON.parse(verbs.memberText((body as unknown as { args: never }).args)))
  assert.equal(asked.at(-1).messages.at(2).text, 'What is the sum?\n\n[RETURN CODE] 0\n[STDOUT]\n6\n\n[STDERR]\n')
  assert.match(asked.at(-1).messages.at(4).text, /was not used: it holds no JSON object/)
  const { said } = (await metier(space, ['session', 'show', session, '--json'])).json
  const payloads = said.flatMap(({ payload_ref: ref }: { payload_ref?: Record<string, Ref> }) =>
    Object.values(ref ?? {}),
  )
  const bodies = verbs.eventsOf(session).map(({ body }) => body as unknown as Record<string, never>)
  assert.deepEqual(
    payloads.map(({ member }: Ref) => member),
    ['args', 'answer', 'args', 'answer', 'args', 'answer'],
  )
  for (const { n, member, sha256: digest } of payloads as Ref[])
    assert.equal(sha256(verbs.memberText(bodies[n - 1]![member]!)), digest)
  await verbs.close()
  const verify = () => metier(space, ['session', 'verify', session, '--json'])
  assert.deepEqual([(await verify()).code, (await metier(space, ['run', 'replay', session])).code], [0, 0])
  const day = readdirSync(join(space.project, 'sessions'))[0]!
  const books = [
    `ledger/session_${session}.jsonl`,
    `manifests/session_${session}_manifest.json`,
    `sessions/${day}/transcript.log`,
    'workbench/scripts/sum.py',
  ]
  for (const book of books) {
    const path = join(space.project, book)
    const before = readFileSync(path)
    writeFileSync(path, before.toString().replace('s', 'S'))
    const { code: found, json: said } = await verify()
    assert.deepEqual([found, said.difference.file], [7, book])
    writeFileSync(path, before)
  }
  assert.equal((await verify()).code, 0)
  const archive = join(space.folder, 'session.tar.gz')
  assert.equal((await metier(space, ['session', 'export', session, '-o', archive])).code, 0)
  const unpacked = join(space.folder, 'unpacked')
  mkdirSync(unpacked)
  execFileSync('tar', ['xzf', archive, '-C', unpacked])
  execFileSync(process.execPath, [join(unpacked, 'verify.mjs'), unpacked])
  assert.match(readFileSync(join(unpacked, 'session.html'), 'utf8'), /<h1>Add up data\.txt<\/h1>[\s\S]*It is 6\./)
  const [row] = (await metier(space, ['sessions', '--json'])).json
  assert.partialDeepStrictEqual(row, {
    session,
    status: 'done',
    goal: 'Add up data.txt',
    protocol: 'rebound',
    steps: 3,
  })
})

test('what is no file in place of one, and a workspace that is gone, are differences; the result is told all the same', async (t) => {
  const space = project(t, [{ ...last('Written.'), artifacts: [{ path: 'out.md', content: 'out' }] }])
  const { session } = (await agent(space, 'Write')).json
  const file = join(space.project, 'out.md')
  copyFileSync(file, join(space.folder, 'out.md'))
  const verify = async () => {
    const { code, json } = await metier(space, ['session', 'verify', session, '--json'])
    return [code, json.difference?.file, json.difference?.problem]
  }
  const replacements = [() => symlinkSync(join(space.folder, 'out.md'), file), () => mkdirSync(file)]
  for (const replace of replacements) {
    rmSync(file, { recursive: true })
    replace()
    assert.deepEqual(await verify(), [7, 'out.md', 'is no plain file, or lies behind a link'])
  }
  renameSync(space.project, `${space.project}2`)
  assert.deepEqual(await verify(), [7, space.project, 'is missing'])
  const { code, stdout, stderr } = await metier(space, ['agent', 'resume', session])
  assert.deepEqual([code, stdout], [0, 'Written.\n'])
  assert.match(stderr, /Cannot write the books of the session: Cannot work in .*: there is no such folder/)
})

test('resuming a session writes a large value of its ledger again that was changed or removed', async (t) => {
  const large = { path: 'large.md', content: 'x'.repeat(70_000) }
  const space = project(t, [{ ...last('Written.'), artifacts: [large] }])
  const { session } = (await agent(space, 'Write')).json
  const verify = async () => (await metier(space, ['session', 'verify', session])).code
  const folder = join(space.project, 'ledger/blobs')
  for (const hurt of [(file: string) => writeFileSync(file, 'y'), (file: string) => rmSync(file)]) {
    for (const name of readdirSync(folder)) hurt(join(folder, name))
    assert.equal(await verify(), 7)
    await metier(space, ['agent', 'resume', session])
    assert.equal(await verify(), 0)
  }
})

test('the glass box: script and output stand on disk in the words of the specification', { skip }, async (t) => {
  const answers = [
    'I look.\n<tool_code>\nimport sys\nprint("out")\nsys.exit("err")\n</tool_code>',
    '<tool_code>x',
    'All seen.',
  ]
  const space = project(t, answers)
  const { json } = await agent(space, 'Look', '--protocol', 'tool_code')
  assert.partialDeepStrictEqual(json, { status: 'done', steps: 3, result: { text: 'All seen.' } })
  const [step] = readdirSync(join(space.project, 'artifacts'))
  assert.match(step!, /^step_\d{8}_\d{6}_tool_request$/)
  const read = (name: string) => readFileSync(join(space.project, 'artifacts', step!, name), 'utf8')
  assert.equal(read('tool_script.py'), 'import sys\nprint("out")\nsys.exit("err")\n')
  assert.equal(read('tool_output.txt'), 'returncode: 1\n\n[STDOUT]\nout\n\n[STDERR]\nerr\n')
  assert.equal((await metier(space, ['session', 'verify', json.session])).code, 0)
})

test('a script sees the workspace without its secrets, cannot change it, and has no network', { skip }, async (t) => {
  const probe = `
import os, socket
for path in ['.env', 'metier.json', '.git/config', 'ledger', 'visible.txt']:
    try: print(path, repr(open(path).read()) if not os.path.isdir(path) else os.listdir(path))
    except OSError as error: print(path, type(error).__name__)
try: open('made.txt', 'w'); print('WROTE')
except OSError: print('read-only')
try: socket.create_connection(('127.0.0.1', 80), 1); print('NETWORK')
except OSError: print('no network')
print(os.getcwd(), [name for name in os.environ if 'KEY' in name or 'SECRET' in name])`
  const space = project(t, [script('probe.py', probe), last('ok')])
  mkdirSync(join(space.project, '.git'))
  for (const [name, text] of Object.entries({
    '.env': 'KEY=1',
    'metier.json': '{}',
    '.git/config': 'url=x',
    'visible.txt': 'yes',
  }))
    writeFileSync(join(space.project, name), text)
  const { json } = await agent(space, 'Look around')
  const shown = await metier(space, ['session', 'show', json.session, '--json'])
  const { text } = shown.json.said.find(({ text }: { text: string }) => text.includes('[STDOUT]'))
  assert.match(
    text,
    /\.env ''\nmetier\.json ''\n\.git\/config FileNotFoundError\nledger \[\]\nvisible\.txt 'yes'\nread-only\nno network\n\/workspace \[\]/,
  )
  assert.equal(existsSync(join(space.project, 'made.txt')), false)
})

const forbidden = {
  ...last('x'),
  next_action: { ...action('x.py'), target_script: '../evil.py' },
  final_result: undefined,
}

test('a forbidden path is fed back once; the second ends the session', { skip }, async (t) => {
  const { code, json } = await agent(project(t, [forbidden, forbidden]), 'Break out')
  assert.deepEqual([code, json.status, json.error.code, json.steps], [6, 'failed', 'PERMISSION_DENIED', 2])
})

test('what a model must not write is refused and fed back; nothing of it is there', { skip }, async (t) => {
  const paths = ['.git/hooks/pre-commit', 'ledger/x', 'metier.json', '../out.txt', 'way/out.txt']
  const answers = paths.map((path) => ({ thought_process: 't', artifacts: [{ path, content: 'x' }] }))
  const space = project(t, [...answers, last('given up')])
  symlinkSync(space.folder, join(space.project, 'way'))
  const { json } = await agent(space, 'Write')
  assert.partialDeepStrictEqual(json, { status: 'done', steps: 6, result: { text: 'given up', files: [] } })
  assert.equal(existsSync(join(space.folder, 'out.txt')), false)
  const { said } = (await metier(space, ['session', 'show', json.session, '--json'])).json
  assert.equal(said.filter(({ text }: { text: string }) => text.includes('PERMISSION_DENIED')).length, paths.length)
})

test('steps, tokens and equal failures end a session with what it last heard', { skip }, async (t) => {
  const endless = script('a.py', 'print("again")')
  const steps = await agent(project(t, [endless, endless, endless]), 'Loop', '--max-steps', '2')
  assert.deepEqual([steps.json.error.code, steps.json.error.context.steps, steps.json.steps], ['BUDGET_EXCEEDED', 2, 2])
  assert.match(steps.json.error.context.last, /\[STDOUT\]\nagain/)
  const tokens = await agent(project(t, [endless, endless]), 'Loop', '--tokens', '5')
  assert.deepEqual([tokens.json.error.code, tokens.json.steps], ['BUDGET_EXCEEDED', 1])
  const failing = script('b.py', 'raise SystemExit(3)')
  const failures = await agent(project(t, [failing, failing, failing, failing]), 'Fail')
  assert.deepEqual([failures.json.status, failures.json.steps], ['failed', 3])
  assert.match(failures.json.error.message, /the same failure came 3 times/)
})

test('a model discovers and executes by its own tool calls, nested in the session and judged as ever', {
  skip,
}, async (t) => {
  const code = 'return (await tool("metier:create_mission", { name: args.name })).missionID.length'
  const answers = [
    { $tool: { name: 'discover', input: { intent: 'create a mission' } } },
    { $tool: { name: 'execute', input: { implementation: { type: 'code', code }, args: { name: 'M' } } } },
    {
      $tool: {
        name: 'execute',
        input: { implementation: { type: 'dag', tasks: [{ id: 'a', tool: 'metier:list_missions', arguments: {} }] } },
      },
    },
    {
      $tool: {
        name: 'execute',
        input: {
          implementation: { type: 'code', code: 'return await tool("workspace:write", {path:"x",content:"y"})' },
        },
      },
    },
    { $tool: { name: 'shell', input: {} } },
    last('made'),
  ]
  const space = project(t, answers)
  const { json } = await agent(space, 'Use tools')
  assert.partialDeepStrictEqual(json, { status: 'done', result: { text: 'made' }, steps: 6 })
  const { calls } = (await metier(space, ['run', 'show', json.session, '--json'])).json as {
    calls: { call: string; tool: string; error?: { code: string } }[]
  }
  const tools = calls.map(
    ({ call, tool }) =>
      `${call} ${tool
        .split(':')
        .slice(0, 2)
        .join(':')
        .replace(/^model:.*/, 'model')}`,
  )
  assert.deepEqual(tools.slice(0, 7), [
    '1 model',
    '2 workspace:discover',
    '3 model',
    '4 metier:program',
    '4.1 metier:create_mission',
    '5 model',
    '6 metier:program',
  ])
  assert.ok(tools.includes('6.1 metier:list_missions'))
  assert.equal(calls.find(({ call }) => call === '8.1')?.error?.code, 'TOOL_NOT_FOUND')
  assert.equal(existsSync(join(space.project, 'x')), false)
  assert.equal((await metier(space, ['run', 'replay', json.session])).code, 0)
})

test('a write that policy asks about waits for a person, and the session goes on with the answer', {
  skip,
}, async (t) => {
  const rules = [{ tool: 'workspace:write', then: 'ask' }]
  const space = project(t, [script('a.py', 'print(1)'), last('done')], { policy: { rules } })
  const asked = await agent(space, 'Write')
  assert.deepEqual([asked.code, asked.json.status], [5, 'approval_required'])
  const [{ id }] = (await metier(space, ['approvals', '--json'])).json as [{ id: string }]
  await metier(space, ['approve', id, '--json'])
  const resumed = await metier(space, ['agent', 'resume', asked.json.session, '--json'])
  assert.equal(resumed.json.status, 'done')
  assert.equal((await metier(space, ['session', 'verify', asked.json.session])).code, 0)
})

test('what cannot begin is refused with what helps', async (t) => {
  const space = project(t, [])
  const none = await metier(space, ['agent', 'x', '--json'])
  assert.match(none.json.error.message, /no model is named; give --model anthropic:NAME/)
  const folder = await agent(space, 'x', '--workspace', join(space.folder, 'nowhere'))
  assert.match(folder.json.error.message, /there is no such folder/)
  const keyless = await metier(space, ['agent', 'x', '--model', 'openai:small', '--json'], {
    env: { OPENAI_API_KEY: '' },
  })
  assert.deepEqual([keyless.code, keyless.json.error.code], [6, 'PERMISSION_DENIED'])
  assert.match(keyless.json.error.message, /there is no key\. Set providers\.openai\.apiKey .* OPENAI_API_KEY/)
  const absent = await metier(space, ['agent', 'x', '--model', 'scripted:nowhere.json', '--json'])
  assert.match(absent.json.error.message, /its file ".*nowhere\.json" cannot be read/)
  assert.deepEqual((await metier(space, ['sessions', '--json'])).json, [], 'nothing of it is a session')
  const { run } = (await metier(space, ['execute', '--code', '-', '--json'], { input: 'return 1' })).json
  assert.match((await metier(space, ['session', 'show', run])).stderr, /it is a run and no session/)
})
