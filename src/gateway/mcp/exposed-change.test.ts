/** What a host hears when the configuration of a running gateway exposes other tools. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { binary, serve, workspace } from '#test'

const eras = ['legacy', 'modern'] as const
const wires = ['http', 'stdio'] as const

async function connected(t: TestContext, era: (typeof eras)[number], wire: (typeof wires)[number]) {
  const space = workspace(t, { config: { expose: ['fx:read'] } })
  const versionNegotiation = era === 'modern' ? { versionNegotiation: { mode: 'auto' as const } } : {}
  const client = new Client({ name: 'host', version: '1' }, versionNegotiation)
  let heard = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void heard++)
  if (wire === 'http') {
    const { url } = await serve(t, space)
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  } else {
    const env = { PATH: process.env.PATH!, METIER_HOME: space.home, METIER_CONFIG: space.file }
    await client.connect(
      new StdioClientTransport({ command: binary, args: ['serve', '--stdio'], env, stderr: 'ignore' }),
    )
  }
  t.after(() => client.close())
  assert.equal(client.getProtocolEra(), era)
  if (era === 'modern') await client.listen({ toolsListChanged: true })
  const change = (part: object) => {
    const config = JSON.parse(readFileSync(space.file, 'utf8'))
    writeFileSync(space.file, JSON.stringify({ ...config, ...part }))
  }
  const names = async () => (await client.listTools()).tools.slice(3).map(({ name }) => name)
  return { change, names, heard: () => heard }
}

async function until(fact: () => boolean): Promise<void> {
  for (let round = 0; round < 200 && !fact(); round++) await pause(50)
}

for (const era of eras)
  for (const wire of wires)
    test(`a ${era} host over ${wire} hears once that other tools are exposed, and of no other change`, async (t) => {
      const { change, names, heard } = await connected(t, era, wire)
      assert.deepEqual(await names(), ['fx__read'])
      change({ policy: { permissions: 'privileged' } })
      await pause(1500)
      assert.equal(heard(), 0)
      change({ expose: ['fx:add', 'fx:read'] })
      await until(() => heard() > 0)
      assert.deepEqual([heard(), await names()], [1, ['fx__add', 'fx__read']])
    })
