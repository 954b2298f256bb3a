/**
 * The only way out of a box leads through our proxy, to what the configuration lists, and is told
 * of before it is taken.
 */
import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { createServer, type Server } from 'node:http'
import { hostname } from 'node:os'
import { after, before, describe, test } from 'node:test'
import type { OutboundConnection, ScriptTier } from '#sandbox'
import { type Lodging, leftovers, lodge, whyNot } from '#test'

for (const tier of ['os', 'gvisor'] as const) outboundContract(tier)

function outboundContract(tier: ScriptTier): void {
  describe(`a way out at tier ${tier}`, { skip: whyNot(tier) }, () => {
    let lodging: Lodging
    let open: number
    let closed: number
    const servers: Server[] = []
    const reached: string[] = []
    before(async () => {
      open = await listen('open')
      closed = await listen('closed')
      lodging = lodge([tier], { outbound: [`127.0.0.1:${open}`, `LOCALHOST:${open}`] })
    })
    after(async () => {
      await lodging.boxes.close()
      assert.deepEqual(leftovers(lodging.folder), [])
      await lodging.close()
      for (const server of servers) server.close()
    })

    function listen(name: string): Promise<number> {
      const server = createServer((request, response) => {
        reached.push(`${name} ${request.method} ${request.url}`)
        request.on('data', () => {}).on('end', () => response.end(`${name} ${request.headers.connection}`))
      })
      servers.push(server)
      return new Promise((resolve) =>
        server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
      )
    }
    async function run(interpreter: string, script: string) {
      const told: OutboundConnection[] = []
      reached.length = 0
      const onConnection = (connection: OutboundConnection) => void told.push(connection)
      const request = { interpreter, script, network: 'OUTBOUND_LIMITED', timeoutSeconds: 30, onConnection } as const
      return { ...(await lodging.boxes.run(request)), told }
    }

    test('what is listed is reached by plain requests and by tunnels, what is not is refused, and both are told', async () => {
      const script = `
import urllib.request
for url in ('http://127.0.0.1:${open}/a?b=c', 'http://localhost:${open}/d', 'http://127.0.0.1:${closed}/e'):
  try: print(urllib.request.urlopen(url, timeout=10).read().decode())
  except Exception as e: print(e.code, e.read().decode().strip())`
      const { stdout, told, isolation } = await run('python', script)
      const refusal = `403 Cannot connect: 127.0.0.1:${closed} is not in sandbox.outbound`
      assert.equal(stdout, `open close\nopen close\n${refusal}\n`)
      assert.deepEqual(reached, ['open GET /a?b=c', 'open GET /d'])
      assert.deepEqual(told, [
        { host: '127.0.0.1', port: open, allowed: true },
        { host: 'localhost', port: open, allowed: true },
        { host: '127.0.0.1', port: closed, allowed: false },
      ])
      assert.equal(isolation.enforced.network, 'namespace, proxy')
    })

    test('a request with a body passes, and a tunnel carries what it is given', async () => {
      const script = `
import http.client
c = http.client.HTTPConnection('127.0.0.1', 3128, timeout=10)
c.set_tunnel('127.0.0.1', ${open})
c.request('POST', '/tunnel', body='x' * 300000)
print(c.getresponse().read().decode())
c = http.client.HTTPConnection('127.0.0.1', 3128, timeout=10)
c.request('POST', 'http://127.0.0.1:${open}/plain', body='y' * 300000)
print(c.getresponse().read().decode())`
      const { stdout } = await run('python', script)
      assert.equal(stdout, 'open undefined\nopen close\n')
      assert.deepEqual(reached, ['open POST /tunnel', 'open POST /plain'])
    })

    test('nothing else leads out', async () => {
      const script = `
import socket
for address in (('127.0.0.1', ${open}), ('127.0.0.1', ${closed}), ('8.8.8.8', 53)):
  try: socket.create_connection(address, 2); print('OPEN', address)
  except OSError: print('no')
def say(text):
  s = socket.create_connection(('127.0.0.1', 3128), 5); s.sendall(text); s.settimeout(10)
  print(s.recv(40).split(b'\\r')[0].decode())
say(b'CONNECT 127.0.0.1:${closed} HTTP/1.1\\r\\n\\r\\n')
say(b'CONNECT 127.0.0.1:${open}@127.0.0.1:${closed} HTTP/1.1\\r\\n\\r\\n')
say(b'GET http://127.0.0.1:${open}@127.0.0.1:${closed}/ HTTP/1.1\\r\\n\\r\\n')
say(b'GET / HTTP/1.1\\r\\nHost: 127.0.0.1:${open}\\r\\n\\r\\n')
say(b'GET http://127.0.0.1:${open}\\t/ HTTP/1.1\\r\\n\\r\\n')
say(b'x' * 20000)`
      const { stdout } = await run('python', script)
      assert.deepEqual(stdout.split('\n'), [
        ...['no', 'no', 'no'],
        'HTTP/1.1 403 Forbidden',
        ...['400', '400', '400', '400'].map((code) => `HTTP/1.1 ${code} Bad Request`),
        'HTTP/1.1 502 Bad Gateway',
        '',
      ])
      assert.deepEqual(reached, [])
    })

    test('a connection that cannot be recorded is not made', async () => {
      reached.length = 0
      const script = `curl -s http://127.0.0.1:${open}/x; exit 0`
      const onConnection = () => Promise.reject(new Error('the disk is full'))
      const request = { interpreter: 'bash', script, network: 'OUTBOUND_LIMITED', onConnection } as const
      const { stdout } = await lodging.boxes.run(request)
      assert.equal(stdout, 'Cannot connect: the disk is full\n')
      assert.deepEqual(reached, [])
    })

    test('without a list there is no network, and without being asked for there is none either', async (t) => {
      const other = lodge([tier])
      t.after(() => other.close())
      const request = { interpreter: 'bash', script: 'true', network: 'OUTBOUND_LIMITED' } as const
      await assert.rejects(other.boxes.run(request), { code: 'PERMISSION_DENIED' })
      const { stdout } = await lodging.boxes.run({
        interpreter: 'bash',
        script: 'ls /box/outbound; env | grep -ci proxy',
      })
      assert.equal(stdout, '0\n')
    })
  })
}

test('a name that leads to this machine is not followed', { skip: whyNot('os') }, async (t) => {
  const found = await lookup(hostname()).catch(() => null)
  if (!found?.address.startsWith('127.')) return t.skip('needs a name other than localhost that leads to 127.0.0.0/8')
  const server = createServer((_, response) => response.end('reached'))
  await new Promise<void>((resolve) => server.listen(0, found.address, resolve))
  const { port } = server.address() as { port: number }
  const lodging = lodge(['os'], { outbound: [`${hostname()}:${port}`] })
  t.after(async () => {
    await lodging.close()
    server.close()
  })
  const script = `curl -s http://${hostname()}:${port}/`
  const { stdout } = await lodging.boxes.run({ interpreter: 'bash', script, network: 'OUTBOUND_LIMITED' })
  assert.match(stdout, /leads to an address that only its number may name/)
})
