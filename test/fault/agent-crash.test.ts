/**
 * Sessions of both protocols in a process that is killed again and again: resumed, they come to the
 * same end, and nothing that is on the record is asked or run again. The provider counts itself.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Event } from '#model'
import { metier, openSpace, providerStub, type Reply, whyNot, workspace } from '#test'

const skip = whyNot('os')
const everything = process.env.LONG === '1'

const script = (name: string, prompt: string) => ({
  thought_process: name,
  artifacts: [{ path: `workbench/scripts/${name}.py`, content: `print("${name}")` }],
  next_action: { type: 'exec_and_chain', target_script: `workbench/scripts/${name}.py`, continuation_prompt: prompt },
})
const answers = {
  rebound: [
    script('one', 'Then?'),
    script('two', 'And?'),
    { thought_process: 'end', artifacts: [{ path: 'out.md', content: 'done' }], final_result: 'Both ran.' },
  ].map((answer) => JSON.stringify(answer)),
  tool_code: ['<tool_code>\nprint("one")\n</tool_code>', '<tool_code>\nprint("two")\n</tool_code>', 'Both ran.'],
}

for (const protocol of ['rebound', 'tool_code'] as const) {
  for (const every of everything ? [1, 2, 3, 4, 5, 6] : [4]) {
    test(`a ${protocol} session killed every ${every} events comes to the same end`, {
      skip,
      timeout: 600_000,
    }, async (t) => {
      const { json, requests, files, sent } = await throughKills(t, protocol, every)
      assert.partialDeepStrictEqual(json, { status: 'done', steps: 3, result: { text: 'Both ran.' } })
      // One that was killed between its event and its request never left.
      assert.ok(requests >= 3 && requests <= sent, `${requests} requests at the provider, ${sent} on the record`)
      const printed = files.filter(([name]) => /\.py$/.test(name)).map(([, text]) => text.trim())
      assert.deepEqual(printed.sort(), ['print("one")', 'print("two")'])
      const outputs = files.filter(([name]) => name.endsWith('tool_output.txt')).map(([, text]) => text)
      assert.equal(outputs.length, protocol === 'rebound' ? 0 : 2)
      for (const text of outputs) assert.match(text, /^returncode: 0\n\n\[STDOUT\]\n(one|two)\n\n\[STDERR\]\n\n$/)
    })
  }
}

async function throughKills(t: TestContext, protocol: keyof typeof answers, every: number) {
  const folder = workspace(t).folder
  const stub = await providerStub(t, join(folder, 'asked.jsonl'), (_, { body }): Reply => {
    const heard = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
    return { text: answers[protocol][heard]! }
  })
  const space = workspace(t, { config: { mcpServers: {} } })
  const project = join(space.folder, 'project')
  mkdirSync(project)
  const start = [
    'agent',
    'Run both',
    '--protocol',
    protocol,
    '--model',
    `compatible:stub@${stub.url}`,
    '--workspace',
    project,
    '--json',
  ]
  const verbs = await openSpace(space)
  let seen = 0
  const isFurther = () => {
    const [newest] = verbs.runs() as { run: string }[]
    return (newest === undefined ? 0 : verbs.lines(newest.run).length) >= seen + every
  }
  let ran = await metier(space, start, { killWhen: isFurther })
  let kills = 0
  for (; ran.killed; kills++) {
    const [{ run }] = verbs.runs() as [{ run: string }]
    // A resumption is an event too: it must come further than that.
    seen = verbs.lines(run).length + 1
    ran = await metier(space, ['agent', 'resume', run, '--json'], { killWhen: isFurther })
  }
  assert.ok(kills >= 2, `it was killed ${kills} times`)
  assert.equal(ran.code, 0, ran.stdout + ran.stderr)
  const { session } = ran.json
  const issued = verbs.eventsOf(session, { type: 'call.issued' }) as Event<'call.issued'>[]
  const models = new Set(issued.filter(({ body }) => body.tool.startsWith('model:')).map(({ body }) => body.call))
  const sends = verbs.eventsOf(session, { type: 'call.sent' }) as Event<'call.sent'>[]
  const sent = sends.filter(({ body }) => models.has(body.call)).length
  await verbs.close()
  assert.equal((await metier(space, ['session', 'verify', session])).code, 0)
  assert.equal((await metier(space, ['run', 'replay', session])).code, 0)
  const names = readdirSync(project, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = names.map(({ parentPath, name }): [string, string] => [
    join(parentPath, name),
    readFileSync(join(parentPath, name), 'utf8'),
  ])
  return { json: ran.json, requests: stub.requests().length, files, sent }
}
