/** Every attack of the table is stopped at every tier, and told by the right code. */
import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ScriptTier } from '#sandbox'
import { isRunning, type Lodging, leftovers, lodge, whyNot } from '#test'
import { type Attack, attacks, type Bait } from './script-attacks.ts'

const folder = mkdtempSync(join(tmpdir(), 'metier-bait-'))
const bait: Bait = {
  secretFile: join(folder, 'secret'),
  secret: `secret-${process.pid}-${Date.now()}`,
  port: 0,
  socket: join(folder, 'socket'),
  abstractSocket: `metier-${process.pid}`,
}
const servers: Server[] = []
let reached = 0

before(async () => {
  process.env.METIER_CANARY = bait.secret
  writeFileSync(bait.secretFile, bait.secret, { mode: 0o644 })
  chmodSync(folder, 0o755)
  for (const address of [{ port: 0, host: '127.0.0.1' }, { path: bait.socket }, { path: `\0${bait.abstractSocket}` }]) {
    const server = createServer((socket) => {
      reached += 1
      socket.end(bait.secret)
    })
    await new Promise<void>((resolve) => server.listen(address, resolve))
    servers.push(server)
  }
  chmodSync(bait.socket, 0o777)
  bait.port = (servers[0]!.address() as { port: number }).port
})
after(() => {
  delete process.env.METIER_CANARY
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

for (const tier of ['os', 'gvisor'] as const) {
  describe(`attacks at tier ${tier}`, { skip: whyNot(tier) }, () => {
    let lodging: Lodging
    before(() => {
      lodging = lodge([tier], { poolSize: 2 })
    })
    after(async () => {
      await lodging.boxes.close()
      assert.deepEqual(leftovers(lodging.folder), [])
      assert.equal(isRunning('sleep 4243'), false)
      assert.equal(reached, 0, 'a server of the host was reached')
      await lodging.close()
    })

    test('there are at least sixty', () => assert.ok(attacks(bait).length >= 60, String(attacks(bait).length)))

    test('each is stopped, and told by the right code', { timeout: 300_000 }, async () => {
      const faults: string[] = []
      const waiting = attacks(bait)
      const work = async () => {
        for (let one = waiting.shift(); one; one = waiting.shift()) {
          const fault = await faultOf(lodging, tier, one)
          if (fault) faults.push(`${one.name}: ${fault}`)
        }
      }
      await Promise.all([work(), work()])
      assert.deepEqual(faults, [])
    })
  })
}

/** Nothing that succeeded, nothing that leaked, and an end that was expected. */
async function faultOf({ boxes }: Lodging, tier: ScriptTier, attack: Attack): Promise<string | null> {
  const { interpreter, script, ends, timeoutSeconds, isImitated } = attack
  const started = performance.now()
  const { end, text } = await boxes.run({ interpreter, script, timeoutSeconds }).then(
    ({ stdout, stderr }) => ({ end: 'result', text: stdout + stderr }),
    ({ code, context }) => ({ end: code as string, text: `${context?.stdout}${context?.stderr}` }),
  )
  const shown = text.slice(0, 300)
  if (text.includes('OPEN') && !(isImitated && tier === 'gvisor')) return `it succeeded: ${shown}`
  if (text.includes(bait.secret)) return `it saw the secret: ${shown}`
  if (!ends.some((one) => one === end)) return `it ended with ${end}: ${shown}`
  const seconds = (performance.now() - started) / 1000
  return seconds > 20 ? `it took ${seconds} s` : null
}
