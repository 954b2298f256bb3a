/**
 * Approvals in the host's own form, in both eras: what it shows, what each answer means, and what
 * ends it from outside.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import type { EventBodies, JsonObject, RunId } from '#model'
import { caller, done, openSpace, type Workspace, workspace } from '#test'

const rules = [{ tool: 'fx:add', args: { '/key': 'forbidden' }, then: 'deny' }]
const config = { policy: { permissions: 'standard', rules } }
const eras = ['legacy', 'modern'] as const
type Form = {
  mode?: string
  url?: string
  message: string
  requestedSchema: {
    properties: Record<string, { default?: string; description?: string; enum?: string[] }>
    required: string[]
  }
}
type Reply = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> }
type Human = (form: Form, signal: AbortSignal) => Reply | Promise<Reply>

const edited = '{"key":"edited","by":9}'
const yes: Reply = { action: 'accept', content: { decision: 'once' } }
const add = (key: string) => `mcp.fx.add({ key: '${key}', by: 1 })`
const caught = (call: string) => `try { return (await ${call}).total } catch (error) { return error.code }`

async function open(t: TestContext, space: Workspace = workspace(t, { config }), port = 0) {
  const verbs = await openSpace(space)
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port, version: '1', log: () => {}, home: space.home })
  const leave = verbs.announceGateway(gateway.url, true)
  const close = async () => {
    leave()
    await gateway.close()
    await verbs.close()
  }
  t.after(close)
  return { space, verbs, gateway, close }
}

/** A host whose human answers; null is one that cannot show forms. */
async function host(
  t: TestContext,
  url: string,
  era: (typeof eras)[number],
  human: Human | null,
  elicitation: { form?: Record<string, never>; url?: Record<string, never> } = { form: {} },
) {
  const capabilities = human === null ? {} : { elicitation }
  const versionNegotiation = era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}
  const client = new Client({ name: 'host', version: '1' }, { capabilities, ...versionNegotiation })
  const forms: Form[] = []
  if (human !== null) {
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      forms.push(params as Form)
      return human(params as Form, mcpReq.signal)
    })
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  assert.equal(client.getProtocolEra(), era)
  t.after(() => client.close())
  const call = async (input: object, signal?: AbortSignal) => {
    const request = { name: 'execute', arguments: input as JsonObject }
    const { structuredContent } = await client.callTool(request, { timeout: 30_000, ...(signal && { signal }) })
    return structuredContent as JsonObject & { approvals: JsonObject[]; error: JsonObject; result: unknown }
  }
  const execute = (code: string, signal?: AbortSignal) =>
    call({ intent: 'count once', implementation: { type: 'code', code } }, signal)
  return { client, forms, execute, call }
}

const made = (space: Workspace, key: string) => done(space, 'add').filter(({ args }) => args.key === key).length

function answersOf(
  { store }: Awaited<ReturnType<typeof open>>['verbs'],
  run: unknown,
): EventBodies['approval.answered'][] {
  return store.events(run as RunId).flatMap((event) => (event.type === 'approval.answered' ? [event.body] : []))
}

for (const era of eras)
  test(`forms in the ${era} era`, async (t) => {
    const { space, verbs, gateway } = await open(t)
    await t.test('a form shows the call and why it asks, and a yes lets it be made', async (t) => {
      const { forms, execute } = await host(t, gateway.url, era, () => yes)
      const answer = await execute(`return (await ${add('shown\\u202e')}).total`)
      assert.deepEqual([answer.status, answer.result], ['done', 1], JSON.stringify(answer))
      assert.equal(forms.length, 1)
      const { message, requestedSchema } = forms[0]!
      for (const part of [
        '{"key":"shown\\u202e","by":1}',
        `${gateway.url}/approvals/`,
        'metier approve',
        'Its plan may call fx:add (line 1)',
        'Always: fx:add passes without a question in every run, except where rule 1 of the file applies',
      ])
        assert.ok(message.includes(part), `${part}: ${message}`)
      const [first, second, third] = message.split('\n')
      assert.equal(
        first,
        'Allow fx:add? permissions "standard" for effect unknown, it does not say whether it destroys',
      )
      assert.equal(second, "From: /key, /by the program's own text, line 1")
      assert.match(third!, /^Arguments: /, 'some hosts show three lines of a message')
      assert.deepEqual(Object.keys(requestedSchema.properties), ['decision'])
      assert.deepEqual(requestedSchema.required, ['decision'])
      const { description, enum: offered, default: chosen } = requestedSchema.properties.decision!
      assert.equal(description, 'The run is for: count once')
      assert.deepEqual(offered, ['once', 'run', 'always', 'deny', 'change'])
      assert.equal(chosen, undefined, 'accepting needs a choice')
      assert.equal(made(space, 'shown\u202e'), 1)
      assert.deepEqual(
        answersOf(verbs, answer.run).map(({ answer, who, from }) => [answer, who, from]),
        [['approved', 'host', 'mcp']],
      )
    })

    await t.test('a form that is declined or says deny refuses the call', async (t) => {
      const replies: Reply[] = [{ action: 'decline' }, { action: 'accept', content: { decision: 'deny' } }]
      const { execute } = await host(t, gateway.url, era, () => replies.shift()!)
      assert.equal((await execute(caught(add('refused')))).result, 'APPROVAL_DENIED')
      const second = await execute(`try { await ${add('refused')} } catch (error) { return error.message }`)
      assert.match(String(second.result), /host said no/)
      assert.equal(made(space, 'refused'), 0)
    })

    await t.test(
      'a client that closes the form, or answers what was not asked, gets approval_required at once and is not asked again',
      async (t) => {
        const strange: Reply[] = [
          { action: 'cancel' },
          { action: 'accept' },
          { action: 'accept', content: { decision: 'maybe' } },
        ]
        const { forms, execute, call } = await host(t, gateway.url, era, () => strange.shift()!)
        for (const round of [1, 2, 3]) {
          const answer = await execute(caught(add('x')))
          assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
          const [{ id, url, command }] = answer.approvals as unknown as [JsonObject]
          assert.deepEqual([url, command], [`${gateway.url}/approvals/${id}`, `metier approve ${id}`])
          const events = verbs.eventsOf(answer.run as RunId).length
          assert.equal((await call({ resume: answer.run })).status, 'approval_required')
          assert.equal(verbs.eventsOf(answer.run as RunId).length, events, 'asking again changes nothing')
          assert.equal(forms.length, round)
        }
      },
    )

    await t.test(
      'a client that only opens addresses is sent to the page, and what is answered there counts',
      async (t) => {
        const human: Human = ({ url = '' }) => {
          const decide = () =>
            verbs.decide(url.split('/').at(-1)!, { answer: 'approved', scope: 'once' }, caller, false)
          setTimeout(() => void decide(), 100)
          return { action: 'accept' }
        }
        const { forms, execute } = await host(t, gateway.url, era, human, { url: {} })
        const answer = await execute(`return (await ${add('paged')}).total`)
        assert.deepEqual([answer.status, answer.result], ['done', 1], JSON.stringify(answer))
        const [{ mode, url, message, requestedSchema }] = forms as [Form]
        assert.deepEqual([forms.length, mode, requestedSchema], [1, 'url', undefined])
        assert.match(url!, /^http:\/\/127\.0\.0\.1:\d+\/approvals\/[^/?#]+$/, 'no token goes to the host')
        assert.match(message, /Allow fx:add\? Its effect is unsafe/)
      },
    )

    await t.test(
      'to open the page is no answer, whatever comes with it; to decline is a no, to close is none',
      async (t) => {
        const { execute } = await host(
          t,
          gateway.url,
          era,
          ({ url = '' }) => {
            const deny = () => verbs.decide(url.split('/').at(-1)!, { answer: 'denied' }, caller, false)
            setTimeout(() => void deny(), 100)
            return yes
          },
          { url: {} },
        )
        assert.equal((await execute(caught(add('opened')))).result, 'APPROVAL_DENIED')
        assert.equal(made(space, 'opened'), 0)
        const replies: Reply[] = [{ action: 'decline' }, { action: 'cancel' }]
        const other = await host(t, gateway.url, era, () => replies.shift()!, { url: {} })
        assert.equal((await other.execute(caught(add('opened')))).result, 'APPROVAL_DENIED')
        assert.equal((await other.execute(caught(add('opened')))).status, 'approval_required')
        const both = await host(t, gateway.url, era, () => yes, { form: {}, url: {} })
        assert.equal((await both.execute(`return (await ${add('form')}).total`)).result, 1)
        assert.equal(both.forms[0]!.mode ?? 'form', 'form', 'a form where that is possible')
      },
    )

    await t.test('a client without forms is answered at once', async (t) => {
      const { execute } = await host(t, gateway.url, era, null)
      assert.equal((await execute(caught(add('x')))).status, 'approval_required')
    })

    await t.test('a second form takes edited arguments, only where they are asked for', async (t) => {
      const replies = [{ decision: 'change' }, { arguments: '{"key":"x","by":"many"}' }, { arguments: edited }]
      const { forms, execute } = await host(t, gateway.url, era, () => ({
        action: 'accept',
        content: replies.shift()!,
      }))
      const answer = await execute(`return (await ${add('x')}).total`)
      assert.deepEqual([answer.status, answer.result], ['done', 9], JSON.stringify(answer))
      assert.deepEqual(
        forms.map(({ requestedSchema }) => Object.keys(requestedSchema.properties)),
        [['decision'], ['arguments'], ['arguments']],
      )
      assert.equal(forms[1]!.requestedSchema.properties.arguments!.default, '{"key":"x","by":1}')
      assert.match(forms[1]!.message, /Arguments now: \{"key":"x","by":1\}/, 'some hosts show no default')
      assert.match(forms[2]!.message, /^That could not be done: .*number/)
      assert.deepEqual(
        answersOf(verbs, answer.run).map(({ args }) => args),
        [{ key: 'edited', by: 9 }],
      )
      assert.equal(made(space, 'edited'), 1)
    })

    await t.test('arguments that came back damaged by the host, or as they were, are unchanged', async (t) => {
      for (const given of ['{"key":"same","by":1}', '{\u{fffd} "key": "same",\u{fffd} "by": 1\u{fffd}}']) {
        const replies = [{ decision: 'change' }, { arguments: given }]
        const { execute } = await host(t, gateway.url, era, () => ({ action: 'accept', content: replies.shift()! }))
        const answer = await execute(`return (await ${add('same')}).total`)
        assert.equal(answer.status, 'done', JSON.stringify(answer))
        assert.deepEqual(
          answersOf(verbs, answer.run).map(({ args, answer }) => [args, answer]),
          [[undefined, 'approved']],
        )
      }
    })

    await t.test('after two unreadable answers the question stays open elsewhere, and that is said', async (t) => {
      for (const wrong of ['{"key"', '{"key":"forbidden","by":1}', '{"key":"\u{fffd}other","by":1}']) {
        const replies = [{ decision: 'change' }, { arguments: wrong }, { arguments: wrong }, { decision: 'once' }]
        const { forms, execute, call } = await host(t, gateway.url, era, () => ({
          action: 'accept',
          content: replies.shift()!,
        }))
        const answer = await execute(`return (await ${add('unread')}).total`)
        assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
        assert.equal(forms.length, 3)
        const [{ note, id, url }] = answer.approvals as unknown as [JsonObject]
        assert.match(String(note), /answered 2 times in a way that cannot be read .*stays open: http/)
        assert.ok(String(note).includes(`${url} or metier approve ${id}`))
        assert.equal((await call({ resume: answer.run })).status, 'approval_required')
        assert.equal(forms.length, 3, 'it is not asked again')
        assert.equal(made(space, 'unread'), 0)
      }
    })

    await t.test(
      'the questions of a run are asked one after the other, and a yes for the run answers the rest',
      async (t) => {
        let open_ = 0
        let most = 0
        const decisions = ['once', 'once', 'once', 'run']
        const human: Human = async () => {
          most = Math.max(most, ++open_)
          await pause(20)
          open_--
          return { action: 'accept', content: { decision: decisions.shift()! } }
        }
        const { forms, execute } = await host(t, gateway.url, era, human)
        const three = (names: string) =>
          `return (await Promise.all(${names}.map((key) => mcp.fx.add({ key, by: 1 })))).length`
        const first = await execute(three(`['a', 'b', 'c']`))
        assert.equal(first.result, 3, JSON.stringify(first))
        assert.deepEqual([forms.length, most], [3, 1])
        assert.equal((await execute(three(`['d', 'e', 'f']`))).result, 3)
        assert.equal(forms.length, 4)
      },
    )
  })

test('a client that is asked more often than it will bear gets the rest as approval_required', async (t) => {
  const { gateway } = await open(t)
  const { forms, execute } = await host(t, gateway.url, 'modern', () => yes)
  const answer = await execute(`for (let i = 0; i < 20; i++) await mcp.fx.add({ key: 'k' + i, by: 1 }); return 'all'`)
  assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
  assert.equal(forms.length, 8)
})

test('an answer given elsewhere closes the form, and the run goes on', async (t) => {
  const { verbs, gateway } = await open(t)
  const closed = Promise.withResolvers<void>()
  const human: Human = async (_, signal) => {
    const [{ id }] = verbs.approvals() as unknown as [JsonObject]
    await verbs.decide(String(id), { answer: 'approved' }, caller, false)
    signal.addEventListener('abort', () => closed.resolve())
    await closed.promise
    return { action: 'decline' }
  }
  const { execute } = await host(t, gateway.url, 'legacy', human)
  const answer = await execute(`return (await ${add('x')}).total`)
  assert.deepEqual([answer.status, answer.result], ['done', 1], JSON.stringify(answer))
  await closed.promise
  assert.deepEqual(
    answersOf(verbs, answer.run).map(({ who }) => who),
    ['test'],
  )
})

test('a form of the modern era that was answered elsewhere meanwhile changes nothing', async (t) => {
  const { verbs, gateway } = await open(t)
  const human: Human = async () => {
    const [{ id }] = verbs.approvals() as unknown as [JsonObject]
    await verbs.decide(String(id), { answer: 'approved' }, caller, false)
    return { action: 'decline' }
  }
  const { execute } = await host(t, gateway.url, 'modern', human)
  const answer = await execute(`return (await ${add('x')}).total`)
  assert.deepEqual([answer.status, answer.result], ['done', 1], JSON.stringify(answer))
})

test('a client that goes while a form is open leaves the question to others', async (t) => {
  const { space, verbs, gateway } = await open(t)
  const shown = Promise.withResolvers<void>()
  const { client, execute } = await host(t, gateway.url, 'legacy', () => {
    shown.resolve()
    return new Promise(() => {})
  })
  execute(`return (await ${add('x')}).total`).catch(() => {})
  await shown.promise
  await client.close()
  const [{ id, run }] = verbs.approvals() as unknown as [JsonObject]
  await verbs.decide(String(id), { answer: 'approved' }, caller, false)
  while (verbs.store.run(run as RunId)?.status !== 'done') await pause(10)
  assert.equal(done(space, 'add').length, 1)
})

test('a request that is cancelled while its form is open cancels the run', async (t) => {
  const { verbs, gateway } = await open(t)
  const stop = new AbortController()
  const { execute } = await host(t, gateway.url, 'legacy', async () => {
    stop.abort('enough')
    return new Promise(() => {})
  })
  await assert.rejects(execute(`return (await ${add('x')}).total`, stop.signal))
  while (verbs.runs({ limit: 1 })[0]!.status !== 'cancelled') await pause(10)
  assert.deepEqual(verbs.approvals(), [])
})

test('a question that expires while its form is open closes it, and the program hears of it', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const { verbs, gateway } = await open(t)
  const asked = await verbs.execute({ implementation: { type: 'code', code: caught(add('x')) } }, caller)
  const [{ expiresAt }] = asked.approvals as unknown as [{ expiresAt: string }]
  t.mock.timers.setTime(Date.parse(expiresAt) - 200)
  const closed = Promise.withResolvers<void>()
  const { call } = await host(t, gateway.url, 'legacy', async (_, signal) => {
    t.mock.timers.setTime(Date.parse(expiresAt) + 1)
    signal.addEventListener('abort', () => closed.resolve())
    return new Promise(() => {})
  })
  const answer = await call({ resume: asked.run })
  assert.equal(answer.result, 'APPROVAL_EXPIRED', JSON.stringify(answer))
  await closed.promise
})

const month = { ...config, approvals: { expireMs: 30 * 24 * 60 * 60 * 1000 } }

test('a form of the legacy era stands for as long as its question, however long the configuration lets that be', async (t) => {
  const { gateway } = await open(t, workspace(t, { config: month }))
  const { setTimeout: wait } = globalThis
  // Hours pass as tenths of a second.
  const hurried = (work: () => void, ms = 0) => wait(work, ms < 3_600_000 ? ms : ms / 36_000)
  t.mock.method(globalThis, 'setTimeout', hurried as typeof wait)
  const { forms, execute } = await host(t, gateway.url, 'legacy', async () => {
    await pause(500)
    return yes
  })
  const answer = await execute(`return (await ${add('x')}).total`)
  assert.deepEqual([answer.status, answer.result, forms.length], ['done', 1, 1], JSON.stringify(answer))
})

test('an answer to a form of the modern era holds for as long as its question, and is understood when it is late', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  for (const [days, expected] of [
    [29, 1],
    [30, 'APPROVAL_EXPIRED'],
  ] as const) {
    const { gateway } = await open(t, workspace(t, { config: month }))
    const { execute } = await host(t, gateway.url, 'modern', () => {
      t.mock.timers.setTime(Date.now() + days * 24 * 60 * 60 * 1000 + 1000)
      return yes
    })
    const answer = await execute(caught(add('x')))
    assert.equal(answer.result, expected, JSON.stringify(answer))
  }
})

test('an answer to a form of the modern era holds for the request that was asked about, and for no other', async (t) => {
  const { space, gateway } = await open(t)
  const { client } = await host(t, gateway.url, 'modern', () => yes)
  const send = (key: string, more: object = {}) => {
    const implementation = { type: 'code', code: `return (await ${add(key)}).total` }
    const params = { name: 'execute', arguments: { implementation }, ...more }
    return client.request({ method: 'tools/call', params }, { allowInputRequired: true }) as Promise<JsonObject>
  }
  const { requestState } = await send('x')
  const brought = { requestState, inputResponses: { approval: yes } }
  await assert.rejects(send('y', brought), /the requestState is of another request/)
  assert.deepEqual([made(space, 'x'), made(space, 'y')], [0, 0])
  assert.equal(((await send('x', brought)).structuredContent as JsonObject).status, 'done')
  assert.deepEqual([made(space, 'x'), made(space, 'y')], [1, 0])
})

test('an answer to a form reaches its run although the gateway that asked has died, and a forged one reaches nothing', async (t) => {
  const space = workspace(t, { config })
  const first = await open(t, space)
  const port = Number(new URL(first.gateway.url).port)
  const { execute, client } = await host(t, first.gateway.url, 'modern', async () => {
    await first.close()
    await open(t, space, port)
    return yes
  })
  const answer = await execute(`return (await ${add('x')}).total`)
  assert.deepEqual([answer.status, answer.result], ['done', 1], JSON.stringify(answer))
  assert.equal(done(space, 'add').length, 1)
  const forged = Buffer.from(
    JSON.stringify({ p: { run: answer.run, approval: 'x', round: 1 }, exp: 9_999_999_999 }),
  ).toString('base64url')
  await assert.rejects(
    client.request({
      method: 'tools/call',
      params: {
        name: 'execute',
        arguments: {},
        requestState: `v1.${forged}.${'a'.repeat(43)}`,
        inputResponses: { approval: yes },
      },
    }),
    /requestState/,
  )
})
