/**
 * Approvals over HTTP: who may answer, what is refused, and that nothing of what an agent wrote
 * becomes part of a page.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { serveHttp } from '#gateway'
import type { EventBodies, JsonObject, RunId } from '#model'
import { caller, done, openSpace, temporaryFolder, workspace } from '#test'
import { send, standIn } from '#test/gateway'

const config = { policy: { permissions: 'standard', rules: [] } }
const evil = `</textarea><script>document.title='taken'</script><img src=x onerror="alert(1)">" onfocus="alert(1)\u202e`
const form = 'application/x-www-form-urlencoded'

async function open(t: TestContext) {
  const space = workspace(t, { config })
  const verbs = await openSpace(space)
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '1', log: () => {} })
  t.after(() => gateway.close())
  const leave = verbs.announceGateway(gateway.url, true)
  t.after(leave)
  const ask = async (key: string) => {
    const code = `try { return (await mcp.fx.add({ key: args.key, by: 1 })).total } catch (error) { return error.message }`
    const asked = await verbs.execute(
      { intent: `count <${key}>`, implementation: { type: 'code', code }, args: { key } },
      caller,
    )
    assert.equal(asked.status, 'approval_required', JSON.stringify(asked))
    const [{ id, url }] = asked.approvals as unknown as [{ id: string; url: string }]
    return { id, url, run: String(asked.run) }
  }
  const outcome = async (run: string) => {
    while (verbs.store.run(run as RunId)?.status !== 'done') await new Promise((resolve) => setTimeout(resolve, 10))
    return (await verbs.run(run)).result
  }
  const answers = (run: string): EventBodies['approval.answered'][] =>
    verbs.eventsOf(run).flatMap((event) => (event.type === 'approval.answered' ? [event.body] : []))
  const cookie = (await send(`${gateway.url}/approvals?token=${gateway.token}`)).headers['set-cookie']![0]!
  return { space, verbs, gateway, ask, outcome, answers, cookie: cookie.split(';')[0]!, whole: cookie }
}

test('POST /api/approvals/:id answers with the token of this start, and the gateway goes on with the run', async (t) => {
  const { space, gateway, ask, outcome, answers } = await open(t)
  const { id, url, run } = await ask('x')
  assert.equal(url, `${gateway.url}/approvals/${id}`)
  assert.ok(!url.includes(gateway.token), 'what an agent reads has no token')
  const headers = { 'content-type': 'application/json', 'x-metier-token': gateway.token }
  const post = (body: object | string, more: Record<string, string> = {}, to = id) =>
    send(`${gateway.url}/api/approvals/${to}`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  assert.equal((await post({ answer: 'perhaps' })).status, 400)
  assert.equal((await post('{')).status, 400)
  assert.equal((await post({ answer: 'approved' }, { 'content-type': 'text/plain' })).status, 415)
  assert.equal((await post({ answer: 'approved', args: { key: 'x', by: 'many' } })).status, 400)
  assert.equal((await post({ answer: 'approved' }, {}, 'no-such-approval')).status, 400)
  assert.equal((await post({ answer: 'approved', args: { key: 'x', by: 5 } })).status, 200)
  assert.equal(await outcome(run), 5)
  assert.equal((await post({ answer: 'denied' })).status, 400, 'a second answer is refused')
  assert.deepEqual(
    answers(run).map(({ answer, who, from, args }) => [answer, who, from, args]),
    [['approved', 'program', 'http', { key: 'x', by: 5 }]],
  )
  assert.equal(done(space, 'add').length, 1)
  const next = await ask('w')
  const { line } = JSON.parse((await post({ answer: 'approved', scope: 'run' }, {}, next.id)).text)
  assert.match(line.says, /^fx:add passes without a question for the rest of this run/)
  await outcome(next.run)
})

test('POST /api/approvals/:id refuses whoever has no token, a wrong one, or a foreign page', async (t) => {
  const { space, gateway, verbs, ask, cookie } = await open(t)
  const { id } = await ask('x')
  const attempts: Record<string, string>[] = [
    {},
    { 'x-metier-token': `${gateway.token}x` },
    { 'x-metier-token': gateway.token, origin: 'http://evil.example' },
    { cookie, origin: 'http://evil.example' },
    { cookie, origin: 'http://127.0.0.1:1' },
    { cookie, origin: 'null' },
    { cookie },
    { cookie: `${cookie}x`, origin: gateway.url },
    { 'x-metier-token': gateway.token, host: 'evil.example' },
  ]
  for (const path of ['/api/approvals/', '/approvals/']) {
    for (const headers of attempts) {
      const type = path === '/approvals/' ? form : 'application/json'
      const body = path === '/approvals/' ? 'answer=approved' : '{"answer":"approved"}'
      const { status } = await send(`${gateway.url}${path}${id}`, {
        method: 'POST',
        headers: { 'content-type': type, ...headers },
        body,
      })
      assert.equal(status, 403, JSON.stringify([path, headers]))
    }
  }
  assert.equal(verbs.approvals().length, 1)
  assert.equal(done(space, 'add').length, 0)
})

test('/approvals/:id takes a form without script, once, with what a human edited, and says no with a reason', async (t) => {
  const { gateway, ask, outcome, answers, cookie, whole } = await open(t)
  assert.match(whole, /^metier-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/)
  const entered = await send(`${gateway.url}/approvals?token=${gateway.token}`)
  assert.deepEqual([entered.status, entered.headers.location], [303, '/approvals'], 'the token leaves the address')
  assert.equal((await send(`${gateway.url}/approvals?token=wrong`)).status, 403)
  const first = await ask('x')
  const page = await send(first.url, { headers: { cookie } })
  const shown = /name="shown" value="([^"]*)"/.exec(page.text)![1]!.replaceAll('&quot;', '"')
  const post = (id: string, fields: Record<string, string>) =>
    send(`${gateway.url}/approvals/${id}`, {
      method: 'POST',
      headers: { cookie, origin: gateway.url, 'content-type': form },
      body: new URLSearchParams(fields).toString(),
    })
  const wrong = await post(first.id, { answer: 'approved', scope: 'once', shown, args: '{"key":' })
  assert.deepEqual([wrong.status, wrong.text.includes('not JSON')], [400, true])
  const args = shown.replace('1', '7').replaceAll('\n', '\r\n')
  const given = await post(first.id, { answer: 'approved', scope: 'once', shown, args, reason: '' })
  assert.deepEqual([given.status, given.headers.location], [303, '/approvals?answered=approved'])
  assert.equal(await outcome(first.run), 7)
  assert.equal((await send(first.url, { headers: { cookie } })).status, 404, 'it is not open any more')
  const always = await ask('z')
  const offered = await send(always.url, { headers: { cookie } })
  assert.match(offered.text, /this tool always .*: <small>fx:add passes without a question in every run, until/)
  const written = await post(always.id, { answer: 'approved', scope: 'run', shown, args: shown })
  assert.equal(written.headers.location, '/approvals?answered=approved&line=allow')
  const said = await send(`${gateway.url}${written.headers.location}`, { headers: { cookie } })
  assert.match(said.text, /Recorded: approved\. From now on the tool passes without a question/)
  const second = await ask('y')
  await post(second.id, { answer: 'denied', scope: 'always', shown, args: shown, reason: 'not today' })
  assert.match(String(await outcome(second.run)), /browser said no: not today/)
  assert.deepEqual(
    [...answers(first.run), ...answers(second.run)].map(({ answer, who, from, rule }) => [answer, who, from, rule]),
    [
      ['approved', 'browser', 'http', undefined],
      ['denied', 'browser', 'http', undefined],
    ],
  )
})

test('/approvals/:id shows what an agent wrote as text, and lets nothing run, load or frame it', async (t) => {
  const { gateway, ask, cookie } = await open(t)
  const { id } = await ask(evil)
  for (const headers of [{ cookie }, {}]) {
    const { text, headers: sent } = await send(`${gateway.url}/approvals/${id}`, { headers })
    assert.ok(!/<script|<img|onfocus="/.test(text), text)
    assert.match(text, /may call fx:add \(line 1\)/)
    assert.ok(text.includes('count &lt;'), 'what it is for')
    assert.ok(text.includes('&lt;/textarea&gt;&lt;script&gt;') && text.includes('\\u202e'), text)
    const policy = String(sent['content-security-policy'])
    assert.match(
      policy,
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    )
    assert.equal(sent['referrer-policy'], 'same-origin')
    assert.equal(text.includes('<form'), 'cookie' in headers, 'only with the token is there a form')
    assert.ok(!text.includes(gateway.token))
  }
  const list = await send(`${gateway.url}/approvals?answered=%3Cscript%3E&line=%3Cscript%3E`)
  assert.ok(!list.text.includes('<script'), list.text)
})

test('GET /api/approvals is what the command line lists', async (t) => {
  const { gateway, verbs, ask } = await open(t)
  const { id, run } = await ask('x')
  const listed = JSON.parse((await send(`${gateway.url}/api/approvals`)).text) as JsonObject[]
  assert.deepEqual(listed, await verbs.withPlannedTools(verbs.approvals()))
  const [question] = listed
  assert.deepEqual(Object.keys(question!), [
    'id',
    'run',
    'call',
    'tool',
    'effect',
    'args',
    'from',
    'why',
    'expiresAt',
    'url',
    'command',
    'intent',
    'mayCall',
    'isWhole',
    'lines',
  ])
  assert.deepEqual([question!.id, question!.run, question!.command], [id, run, `metier approve ${id}`])
})

test('the link with the token of this start opens the pages also where hosts need a token of their own, and nothing of MCP', async (t) => {
  const home = temporaryFolder(t)
  const options = { verbs: standIn(), host: '127.0.0.1', port: 0, version: '1', log: () => {} }
  const gateway = await serveHttp({ ...options, auth: 'token', home })
  t.after(() => gateway.close())
  assert.equal((await send(`${gateway.url}/approvals`)).status, 401)
  const entered = await send(`${gateway.url}/approvals?token=${gateway.token}`)
  const cookie = entered.headers['set-cookie']![0]!.split(';')[0]!
  assert.equal(entered.status, 303)
  for (const [path, status] of Object.entries({ '/approvals': 200, '/api/runs': 200, '/mcp': 401 })) {
    assert.equal((await send(`${gateway.url}${path}`, { headers: { cookie } })).status, status, path)
  }
})
