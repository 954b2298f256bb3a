/**
 * The only way out of a box: a proxy of ours on a socket, which reaches what the configuration
 * lists and tells of each connection.
 */
import { lookup } from 'node:dns/promises'
import { chmodSync, closeSync, constants, mkdirSync, openSync } from 'node:fs'
import { BlockList, connect, createServer, isIP, type Socket } from 'node:net'
import { AppError, limits } from '#model'

export type OutboundConnection = { host: string; port: number; allowed: boolean }
/** The connection waits for it; what cannot be recorded is not made. */
export type OnConnection = (connection: OutboundConnection) => void | Promise<void>
export type WayOut = {
  allowed: string[]
  onConnection: OnConnection
  /** Where the list stands, as a refusal names it. */
  listedIn?: string
}
type Outbound = { folder: string; close(): void }

type Destination = { host: string; port: number }
type ProxyRequest = Destination & { head: string | null }

/** Each `host:port` of the configuration in the form in which requests are compared with it. */
export function parseOutbound(list: readonly string[]): string[] {
  return list.map((entry) => {
    const found = destinationOf(entry)
    if (found) return nameOf(found)
    const message = `Cannot use sandbox.outbound: "${entry}" must be a host and a port, such as example.org:443`
    throw new AppError('CONFIG_INVALID', message, { entry })
  })
}

function destinationOf(text: string, portDefault?: number): Destination | null {
  const [, bracketed, plain, digits] = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = digits === undefined ? portDefault : Number(digits)
  if (host === undefined || port === undefined || port < 1 || port > 65535) return null
  return { host: host.toLowerCase().replace(/\.$/, ''), port }
}

function nameOf({ host, port }: Destination): string {
  return `${host}:${port}`
}

/** `folder` is shown to the box as `/box/outbound`. */
export async function openOutbound(folder: string, way: WayOut): Promise<Outbound> {
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (inner) => {
    sockets.add(inner.on('error', () => {}).on('close', () => sockets.delete(inner)))
    serve(inner, way).catch((thrown) => refuse(inner, '502 Bad Gateway', (thrown as Error).message))
  })
  server.maxConnections = limits.outboundConnectionsMax
  // The path of a socket may only be short: we take the way through our own descriptor.
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  const path = `/proc/self/fd/${descriptor}/proxy`
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  chmodSync(path, 0o666)
  const close = () => {
    for (const socket of sockets) socket.destroy()
    server.close(() => closeSync(descriptor))
  }
  return { folder, close }
}

async function serve(inner: Socket, way: WayOut): Promise<void> {
  const { allowed, onConnection, listedIn = 'sandbox.outbound' } = way
  const { head, rest } = await readHead(inner)
  const asked = parseHead(head)
  if (asked === null) return refuse(inner, '400 Bad Request', 'this proxy understands CONNECT and http:// only')
  const { host, port } = asked
  const isAllowed = allowed.includes(nameOf(asked))
  await onConnection({ host, port, allowed: isAllowed })
  if (!isAllowed) return refuse(inner, '403 Forbidden', `${nameOf(asked)} is not in ${listedIn}`)
  const outer = await reach(asked)
  outer.on('error', () => inner.destroy()).on('close', () => inner.destroy())
  inner.on('close', () => outer.destroy())
  if (asked.head === null) inner.write('HTTP/1.1 200 Connection established\r\n\r\n')
  else outer.write(asked.head)
  outer.write(rest)
  inner.pipe(outer)
  outer.pipe(inner)
}

function readHead(inner: Socket): Promise<{ head: string; rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0)
    const late = setTimeout(() => reject(new Error('the request did not end')), limits.outboundHeadMsMax)
    const done = (settle: () => void) => {
      clearTimeout(late)
      inner.off('data', onData).pause()
      settle()
    }
    const onData = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const end = bytes.indexOf('\r\n\r\n')
      if (end >= 0) done(() => resolve({ head: bytes.toString('latin1', 0, end), rest: bytes.subarray(end + 4) }))
      else if (bytes.length > limits.outboundHeadBytesMax) done(() => reject(new Error('the request is too long')))
    }
    inner.on('data', onData).once('end', () => done(() => reject(new Error('the request did not end'))))
  })
}

/**
 * For a tunnel only where to; for a plain request also what to send on: one request, as the server
 * itself wants it.
 */
function parseHead(head: string): ProxyRequest | null {
  const [first = '', ...fields] = head.split('\r\n')
  const [, tunnel] = /^CONNECT (\S+) HTTP\/1\.[01]$/.exec(first) ?? []
  if (tunnel !== undefined) {
    const found = destinationOf(tunnel)
    return found && { ...found, head: null }
  }
  const [, method, authority, path = ''] = /^([A-Z]+) http:\/\/([^/?#\s@]+)(\S*) HTTP\/1\.[01]$/.exec(first) ?? []
  const found = authority === undefined ? null : destinationOf(authority, 80)
  if (found === null) return null
  const kept = fields.filter((field) => !/^(?:connection|keep-alive|proxy-[\w-]+):/i.test(field))
  const target = path.startsWith('/') ? path : `/${path}`
  return { ...found, head: [`${method} ${target} HTTP/1.1`, ...kept, 'Connection: close', '', ''].join('\r\n') }
}

/**
 * What no name should lead to: this machine, and addresses that are asked for secrets in a cloud.
 */
const inner = new BlockList()
inner.addSubnet('127.0.0.0', 8)
inner.addSubnet('0.0.0.0', 8)
inner.addSubnet('169.254.0.0', 16)
inner.addSubnet('fe80::', 10, 'ipv6')
for (const address of ['::1', '::']) inner.addAddress(address, 'ipv6')

async function reach({ host, port }: Destination): Promise<Socket> {
  const found = await lookup(host, { all: true })
  const isNamed = isIP(host) !== 0 || host === 'localhost'
  const safe = found.filter(({ address, family }) => isNamed || !inner.check(address, family === 6 ? 'ipv6' : 'ipv4'))
  if (safe.length === 0) throw new Error(`${host} leads to an address that only its number may name`)
  return new Promise((resolve, reject) => {
    const outer = connect({ host, port, allowHalfOpen: true, lookup: (_, __, answer) => answer(null, safe) })
    outer.setTimeout(limits.outboundConnectMsMax, () => outer.destroy(new Error('no answer')))
    outer.once('error', reject).once('connect', () => resolve(outer.setTimeout(0).off('error', reject)))
  })
}

function refuse(inner: Socket, status: string, why: string): void {
  const body = `Cannot connect: ${why}\n`
  inner.end(
    `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
