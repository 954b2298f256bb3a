/** Who is told that a question waits, from outside: a real receiver on loopback. */
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { done, metier, serve, workspace } from '#test'

type Posted = { headers: IncomingHttpHeaders; body: string }

/** Answers with these statuses, one after the other; null never answers. */
async function receiver(t: TestContext, statuses: (number | null)[]) {
  const posted: Posted[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    posted.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
    const status = statuses.shift()
    if (typeof status === 'number') response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { posted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?secret=hush` }
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let i = 0; i < 400 && !isTrue(); i++) await pause(50)
  assert.ok(isTrue())
}

const call = ['call', 'fx:add', '{"key":"private","by":4}', '--json']

test('a webhook is told once that a question waits, signed, without the arguments, and again where it failed', async (t) => {
  const { posted, url } = await receiver(t, [500, 204])
  const config = { policy: { permissions: 'standard', rules: [] }, approvals: { webhook: url, expireMs: 120_000 } }
  const space = workspace(t, { config })
  const gateway = await serve(t, space)
  const [{ id, expiresAt }] = (await metier(space, call)).json.approvals
  await until(() => posted.length === 2)
  const [first, second] = posted as [Posted, Posted]
  assert.equal(first.body, second.body)
  const told = JSON.parse(second.body)
  assert.deepEqual([told.type, told.id, told.tool], ['approval.asked', id, 'fx:add'])
  assert.equal(told.url, `${gateway.url}/approvals/${id}`)
  assert.doesNotMatch(second.body, /private|token/)
  const x = Buffer.from(String(second.headers['metier-key']), 'hex').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = (body: string) =>
    verify(
      null,
      Buffer.from(`${second.headers['metier-timestamp']}.${body}`),
      key,
      Buffer.from(String(second.headers['metier-signature']).replace('ed25519=', ''), 'hex'),
    )
  assert.equal(signed(second.body), true)
  assert.equal(signed(`${second.body} `), false)
  const left = Date.parse(expiresAt) - Date.now()
  assert.ok(left > 0 && left <= 120_000, 'it expires as configured')
  await pause(1500)
  assert.equal(posted.length, 2, 'what was taken is not told again')
})

test('a webhook that never answers keeps no call, no answer and no stop waiting, and its address is not logged', async (t) => {
  const { posted, url } = await receiver(t, [null, null, null])
  const config = { policy: { permissions: 'standard', rules: [] }, approvals: { webhook: url } }
  const space = workspace(t, { config })
  const gateway = await serve(t, space)
  const [{ id }] = (await metier(space, call)).json.approvals
  await until(() => posted.length === 1)
  assert.equal((await metier(space, ['approve', id])).code, 0)
  await until(() => done(space, 'add').length === 1)
  assert.equal(await gateway.stop(), 0)
  assert.doesNotMatch(gateway.stderr(), /hush/)
})
