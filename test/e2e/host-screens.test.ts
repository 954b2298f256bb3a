/**
 * Claude Code and Codex on real terminal screens: what a person sees of a question there, and what
 * each key they press comes to.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  claudeScreen,
  codexScreen,
  done,
  hostsMissing,
  metier,
  modelStub,
  type Screen,
  type Step,
  tmuxMissing,
  workspace,
} from '#test'

const skip = hostsMissing || tmuxMissing
const config = { policy: { permissions: 'standard', rules: [] } }
const keys = [
  'accepted',
  'denied',
  'changed',
  'untouched\n😀 and a text that is longer than a line of the screen',
  'cancelled',
]
const steps = keys.map((key): Step => {
  const code = `return (await mcp.fx.add(${JSON.stringify({ key, by: 4 })})).total`
  return { tool: 'execute', input: { intent: 'count visitors', implementation: { type: 'code', code } } }
})

async function open(t: TestContext, host: 'claude-code' | 'codex') {
  const space = workspace(t, { config })
  assert.equal((await metier(space, ['connect', host, '--home', space.home])).code, 0)
  const stub = await modelStub(t, (results) => steps[results.length] ?? { say: 'That was all.' })
  const screen = await (host === 'codex' ? codexScreen : claudeScreen)(t, space, stub)
  // A host may speak to its model before it has our tools: then the model has nothing to call, and
  // is asked again.
  for (let tries = 0; tries < 20 && stub.tools().length === 0; tries++) {
    await screen.enter(`count ${tries}`)
    await screen.shows(new RegExp(`count ${tries}\\s+(?:● ok|[\\s\\S]*metier)`))
  }
  return { space, stub, screen }
}

/** The answers of execute that the model got, one for each call. */
function check(results: string[], effects: unknown[]): void {
  const [accepted, denied, changed, untouched, cancelled] = results
  assert.match(accepted!, /\\?"result\\?":4/)
  assert.match(denied!, /APPROVAL_DENIED/)
  assert.match(changed!, /\\?"result\\?":9/)
  assert.match(untouched!, /\\?"result\\?":4/)
  assert.match(cancelled!, /approval_required/)
  assert.deepEqual(effects, [
    { key: keys[0], by: 4 },
    { key: 'changed', by: 9 },
    { key: keys[3], by: 4 },
  ])
}

/**
 * The question with these arguments, as it stands on the screen: why and where from are seen too.
 */
async function question(screen: Screen, key: string): Promise<void> {
  const seen = await screen.shows(new RegExp(`Arguments: \\{"key":"${key}`))
  assert.match(seen, /Allow fx:add\? permissions "standard" for effect unknown, it does not say whether it destroys/)
  assert.match(seen, /From: \/key, \/by the program's own text, line 1/)
}

test('Claude Code on its screen: a question is seen, and can be accepted, denied, changed and cancelled', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const { space, stub, screen } = await open(t, 'claude-code')
  const accept = async (key: string) => {
    await screen.pressUntil(key, /❯ Accept/)
    await screen.press('Enter')
  }
  /** Opens the list of choices, goes down to one, takes it, and accepts the form. */
  const choose = async (key: string, choice: string) => {
    await question(screen, key)
    await screen.pressUntil('Right', /◯ Allow once/)
    const chosen = new RegExp(`❯ ◯ "?${choice}`)
    if (!chosen.test(await screen.text())) await screen.pressUntil('Down', chosen)
    await accept('Enter')
  }
  await choose('accepted', 'Allow once')
  await choose('denied', 'Deny')
  await choose('changed', 'Change the arguments')
  await screen.shows(/❯ ✔ Arguments: .*"changed","by":4\}/)
  await screen.pressUntil('BSpace', /Arguments: .*"changed","by":4$/m)
  await screen.pressUntil('BSpace', /Arguments: .*"changed","by":$/m)
  await screen.enter('9}')
  await screen.shows(/❯ Accept/)
  await screen.press('Enter')
  await choose('untouched', 'Change the arguments')
  await screen.shows(/Change the arguments of fx:add/)
  await accept('Down')
  await question(screen, 'cancelled')
  await screen.pressUntil('Escape', /That was all\./)
  check(
    stub.results(),
    done(space, 'add').map(({ args }) => args),
  )
})

test('Codex on its screen: it asks nothing of its own, and a question is seen, accepted, denied, changed and cancelled', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const { space, stub, screen } = await open(t, 'codex')
  const choose = async (key: string, choice: string) => {
    const seen = await screen.shows(/Allow fx:add\?|run tool/)
    assert.doesNotMatch(seen, /Allow the metier MCP server to run tool/, 'a person is asked once')
    await question(screen, key)
    await screen.press(choice)
  }
  const answer = async (text: string) => {
    await screen.shows(/Arguments now: /)
    await screen.enter(text)
  }
  await choose('accepted', '1')
  await choose('denied', '4')
  await choose('changed', '5')
  await answer('{"key":"changed","by":9}')
  await choose('untouched', '5')
  await answer(JSON.stringify({ key: keys[3], by: 4 }))
  await question(screen, 'cancelled')
  await screen.pressUntil('Escape', /That was all\./)
  check(
    stub.results(),
    done(space, 'add').map(({ args }) => args),
  )
})
