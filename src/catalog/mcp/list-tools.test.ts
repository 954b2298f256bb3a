/**
 * A list of tools as it is read from its pages is the list that the client of the SDK makes of
 * them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client, InMemoryTransport } from '@modelcontextprotocol/client'
import { toTools } from '#catalog/definitions'
import { type Json, limits, type ServerConfig } from '#model'
import { dice } from '#test'
import { isInvalidResult, isTooLong, listTools } from './list-tools.ts'

const config = { effects: {} } as ServerConfig
const digestsOf = (definitions: Parameters<typeof toTools>[2]) =>
  toTools('s', config, definitions).map(({ name, digest, effect }) => ({ name, digest, effect }))

/** A client of a server that answers tools/list by `page`, of a cursor. */
async function connected(page: (cursor: string | undefined) => unknown): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  theirs.onmessage = (message) => {
    if (!('id' in message && 'method' in message)) return
    const { id, method, params } = message as { id: number; method: string; params?: Record<string, unknown> }
    const initialized = {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    }
    const result = method === 'initialize' ? initialized : page(params?.cursor as string | undefined)
    void theirs.send({ jsonrpc: '2.0', id, result } as never)
  }
  await theirs.start()
  const client = new Client({ name: 'test', version: '1' }, { listMaxPages: limits.catalogPagesMax })
  await client.connect(ours)
  return client
}

test('listTools() reads the same tools as the client, with the same digests, where the client takes the list', async () => {
  let [taken, refused] = [0, 0]
  for (let seed = 1; seed <= 150; seed++) {
    const next = dice(seed)
    const maybe = (value: Json | undefined, odds = 0.5) => (next() < odds ? value : undefined)
    const pick = (values: readonly Json[]) => values[Math.floor(next() * values.length)]!
    const schema = () => ({
      type: pick(['object', 'object', 'object', 'object', 'object', 'object', 'string']),
      properties: maybe(pick([{ a: { type: 'string', x: [1, null] }, b: true }, {}])),
      required: maybe(pick([['a'], [], ['a', 'b']])),
      $schema: maybe('s'),
      more: maybe({ deep: [1, { z: 1, a: 2 }] }),
    })
    const toolAt = (at: number) => ({
      name: `t${at}`,
      title: maybe('T'),
      description: maybe(pick(['d', 'd', 'd', 'd', 'd', 'd', 'd', 'd', 7])),
      inputSchema: schema(),
      outputSchema: next() < 0.3 ? schema() : undefined,
      annotations: maybe({
        ...(next() < 0.5 ? { readOnlyHint: true } : {}),
        title: 't',
        custom: true,
        other: 'o',
      }),
      icons: maybe([{ src: 'i' }]),
      _meta: maybe({ m: 1 }),
    })
    const tools = Array.from({ length: 3 }, (_, at) => JSON.parse(JSON.stringify(toolAt(at))))
    const pages = (cursor: string | undefined) => ({
      tools: [tools[Number(cursor ?? 0)]],
      ...(Number(cursor ?? 0) < 2 ? { nextCursor: String(Number(cursor ?? 0) + 1) } : {}),
    })
    const client = await connected(pages)
    const listing = await listTools(client)
    const { definitions, isStrict } = listing.read()
    assert.equal(definitions.length, 3)
    assert.equal((await listTools(client)).digest, listing.digest, `seed ${seed}`)
    try {
      const expected = digestsOf((await client.listTools()).tools)
      assert.deepEqual([isStrict, digestsOf(definitions)], [true, expected], `seed ${seed}`)
      assert.deepEqual(digestsOf([listing.definition('t1')!]), [expected[1]], `seed ${seed}`)
      taken++
    } catch (error) {
      if (!isInvalidResult(error)) throw error
      assert.equal(isStrict, false, `seed ${seed}`)
      refused++
    }
    await client.close()
  }
  assert(taken > 20 && refused > 20, `${taken} taken, ${refused} refused`)
})

test('listTools() tells lists apart that differ in one word, or in where a page ends', async () => {
  const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } })
  const digestOf = async (pages: object[][]) => {
    const client = await connected((cursor) => {
      const at = Number(cursor ?? 0)
      return { tools: pages[at], ...(at + 1 < pages.length ? { nextCursor: String(at + 1) } : {}) }
    })
    const { digest } = await listTools(client)
    await client.close()
    return digest
  }
  const lists = [
    [[tool('a', 'x'), tool('b', 'y')]],
    [[tool('a', 'x'), tool('b', 'z')]],
    [[tool('b', 'y'), tool('a', 'x')]],
    [[tool('a', 'x')], [tool('b', 'y')]],
    [[tool('a', 'x')]],
  ]
  const digests = await Promise.all(lists.map(digestOf))
  assert.equal(new Set(digests).size, lists.length)
  assert.equal(await digestOf(lists[0]!), digests[0])
})

test('listTools() ends with a page that a server repeats, and refuses pages without end', async () => {
  const tools = [{ name: 'a', inputSchema: { type: 'object' } }]
  const repeating = await connected(() => ({ tools, nextCursor: 'same' }))
  assert.equal((await listTools(repeating)).read().definitions.length, 1)
  const endless = await connected((cursor) => ({ tools: [], nextCursor: String(Number(cursor ?? 0) + 1) }))
  await assert.rejects(listTools(endless), isTooLong)
})
