/**
 * The auditor's program, which imports nothing of ours, against sessions of both protocols: it
 * finds the whole chain, and notices one changed byte in any file.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { readSession, verifySession } from '#agent'
import {
  agentProject,
  assertNoticed,
  auditSession,
  lastAnswer,
  metier,
  openSpace,
  placesOf,
  root,
  runAgent,
  scriptAnswer,
  whyNot,
  workspace,
} from '#test'

const skip = whyNot('os')
const everything = process.env.LONG === '1'

const content = 'print("x" * 300000)\nopen("/outputs/kept.txt", "w").write("kept")\n'
const target_script = 'workbench/scripts/look.py'
/** What only looks like a reference to a value that stands outside of its event. */
const lookAlike = { deep: { $blob: 'a'.repeat(64), bytes: 3 } }
const code = { type: 'code', code: 'return args' }
const answers = {
  rebound: [
    { $tool: { name: 'execute', input: { implementation: code, args: lookAlike } } },
    {
      thought_process: 'I look.',
      artifacts: [{ path: target_script, content }],
      next_action: { type: 'exec_and_chain', target_script, continuation_prompt: 'Seen?' },
    },
    'no JSON',
    {
      thought_process: 'done',
      artifacts: [{ path: 'out.md', content: 'w' }],
      next_action: null,
      final_result: 'Seen.',
    },
  ],
  tool_code: [`I look.\n<tool_code>\n${content}</tool_code>`, '<tool_code>', 'Seen.'],
}

test('the auditor imports nothing of the product', () => {
  const text = readFileSync(join(root, 'test', 'session-auditor.ts'), 'utf8')
  const imports = [...text.matchAll(/from '([^']+)'/g)].map((match) => match[1]!)
  assert.ok(imports.length > 0 && imports.every((name) => name.startsWith('node:')), imports.join())
})

for (const protocol of ['rebound', 'tool_code'] as const) {
  test(`the auditor finds the chain of a ${protocol} session, and one changed byte in any of its files`, {
    skip,
    timeout: 600_000,
  }, async (t) => {
    const space = workspace(t, { config: { mcpServers: {} } })
    const project = join(space.folder, 'project')
    mkdirSync(project)
    // What was there before is kept, and its digest with it.
    writeFileSync(join(project, 'out.md'), 'of the user')
    const file = join(space.folder, 'answers.json')
    writeFileSync(file, JSON.stringify(answers[protocol]))
    const words = ['agent', 'Look', '--model', `scripted:${file}`, '--workspace', project, '--protocol', protocol]
    const { json, stderr } = await metier(space, [...words, '--json'])
    assert.equal(json?.result?.text, 'Seen.', stderr)
    const { session } = json
    const chain = auditSession(project, session).map(({ what }) => what.replace(/ of .*/, ''))
    const expected = {
      rebound: [
        ...['instruction', 'answer', 'metier:program', 'answer', 'artifact', 'output'],
        ...['answer', 'correction', 'answer', 'artifact', 'final result'],
      ],
      tool_code: [
        ...['instruction', 'answer', 'artifact', 'output', 'artifact'],
        ...['answer', 'correction', 'answer', 'final result'],
      ],
    }
    assert.deepEqual(chain, expected[protocol])
    const places = placesOf(project, session, everything ? 40 : 5)
    const kinds = new Set(places.map(({ file }) => file.split('/')[file.includes('/blobs/') ? 1 : 0]))
    const own = protocol === 'rebound' ? ['out.md', 'out.md~1', 'workbench'] : ['artifacts']
    assert.deepEqual([...kinds].sort(), [...own, 'blobs', 'ledger', 'manifests', 'sessions'].sort())
    for (const place of places) assertNoticed(project, session, place)
    auditSession(project, session)
    const manifest = JSON.parse(readFileSync(join(project, 'manifests', `session_${session}_manifest.json`), 'utf8'))
    assert.deepEqual(
      manifest.outputs.map(({ path, bytes, step }: { path: string; bytes: number; step: number }) => [
        path,
        bytes,
        step,
      ]),
      [['/outputs/kept.txt', 4, protocol === 'rebound' ? 2 : 1]],
    )
    const verify = () => metier(space, ['session', 'verify', session, '--json'])
    assert.equal((await verify()).code, 0)
    rmSync(join(space.home, 'artifacts'), { recursive: true })
    const { code, json: found } = await verify()
    assert.deepEqual([code, found.difference], [7, { file: manifest.outputs[0].storagePath, problem: 'is missing' }])
  })
}

/** Every file that a session of ours can be held against; what was there before is none. */
const filesIn = (project: string) =>
  readdirSync(project, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(project, join(entry.parentPath, entry.name)))

// An audit for each byte takes minutes; the tests above take samples.
if (everything)
  for (const protocol of ['rebound', 'tool_code'] as const)
    test(`each byte of a ${protocol} session counts, for the auditor and for session verify`, {
      skip,
      timeout: 3_600_000,
    }, async (t) => {
      const code = 'print(6 * 7)\n'
      const space = agentProject(
        t,
        protocol === 'rebound'
          ? [scriptAnswer('a.py', code), 'no JSON', lastAnswer('42')]
          : [`<tool_code>\n${code}</tool_code>`, '<tool_code>', '42'],
        { agent: { tools: false } },
      )
      const { session } = (await runAgent(space, 'Compute', '--protocol', protocol)).json
      const verbs = await openSpace(space)
      const record = await readSession(verbs, session)
      const artifacts = () => Promise.reject(new Error('there are none'))
      assert.equal(await verifySession(record, artifacts), null)
      let places = 0
      for (const file of filesIn(space.project)) {
        const path = join(space.project, file)
        const before = readFileSync(path)
        for (let at = 0; at < before.length; at += 1) {
          const changed = Buffer.from(before)
          changed[at]! ^= 1 << (at % 8)
          writeFileSync(path, changed)
          assert.throws(() => auditSession(space.project, session), `${file} was changed at byte ${at}`)
          assert.notEqual(await verifySession(record, artifacts), null, `${file} was changed at byte ${at}`)
        }
        writeFileSync(path, before)
        places += before.length
      }
      t.diagnostic(`${places} bytes`)
      auditSession(space.project, session)
    })
