/** The filter for scripts, run as the kernel would run it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptFilter, scriptRefusals } from './seccomp.ts'

const [allow, kill, notPermitted, notThere] = [0x7fff0000, 0x80000000, 0x00050001, 0x00050026]
type Call = { number: number; first?: number; second?: number }

/** The part of the kernel's machine that the filter uses. */
function run(filter: Buffer, architecture: number, { number, first = 0, second = 0 }: Call): number {
  const data: Record<number, number> = { 0: number, 4: architecture, 16: first, 24: second }
  let held = 0
  for (let at = 0; at < filter.length; at += 8) {
    const [code, yes, no] = [filter.readUInt16LE(at), filter[at + 2]!, filter[at + 3]!]
    const value = filter.readUInt32LE(at + 4)
    if (code === 0x06) return value
    if (code === 0x20) {
      assert.ok(value in data, 'it reads what it is given')
      held = data[value]!
    } else at += 8 * ({ 21: held === value, 53: held >= value, 69: (held & value) !== 0 }[code] ? yes : no)
  }
  return assert.fail('the filter ends without an answer')
}

const machines = {
  x64: {
    audit: 0xc000003e,
    read: 0,
    fork: 57,
    clone: 56,
    socket: 41,
    connect: 42,
    ioctl: 16,
    execve: 59,
    mount: 165,
    memfd: 319,
  },
  arm64: {
    audit: 0xc00000b7,
    read: 63,
    fork: 63,
    clone: 220,
    socket: 198,
    connect: 203,
    ioctl: 29,
    execve: 221,
    mount: 40,
    memfd: 279,
  },
}

for (const [machine, { audit, ...numbers }] of Object.entries(machines)) {
  test(`scriptFilter() on ${machine} lets a script start processes and talk to itself, and nothing more`, () => {
    const filter = scriptFilter(machine)!
    const ask = (number: number, first = 0, second = 0) => run(filter, audit, { number, first, second })
    for (const name of ['read', 'fork', 'connect', 'execve'] as const) assert.equal(ask(numbers[name]), allow, name)
    for (const name of ['mount', 'memfd'] as const) assert.equal(ask(numbers[name]), notPermitted, name)
    for (const family of [1, 2, 10]) assert.equal(ask(numbers.socket, family), allow, `family ${family}`)
    for (const family of [0, 3, 16, 17, 38, 40, 44])
      assert.equal(ask(numbers.socket, family), notPermitted, `family ${family}`)
    for (const flags of [17, 0x003d0f00, 0x01200011]) assert.equal(ask(numbers.clone, flags), allow, `clone ${flags}`)
    for (const flags of [0x10000000, 0x00020011, 0x20000000, 0x40000000, 0x02000000, 0x04000000, 0x08000000]) {
      assert.equal(ask(numbers.clone, flags), notPermitted, `clone ${flags}`)
    }
    for (const request of [0x5401, 0x5413, 0x541b])
      assert.equal(ask(numbers.ioctl, 1, request), allow, `ioctl ${request}`)
    for (const request of [0x5412, 0x541c])
      assert.equal(ask(numbers.ioctl, 0, request), notPermitted, `ioctl ${request}`)
    assert.equal(ask(435), notThere, 'clone3 falls back to clone')
    assert.equal(ask(0x40000000 + 1), kill, 'the other numbering')
    assert.equal(run(filter, 0x40000003, { number: 20 }), kill, 'the other architecture')
  })
}

test('scriptFilter() knows no filter for a machine it was not written for', () => {
  assert.equal(scriptFilter('riscv64'), null)
})

test('scriptRefusals name what is refused, and nothing that scripts need', () => {
  for (const name of ['ptrace', 'mount', 'unshare', 'setns', 'bpf', 'io_uring_setup', 'keyctl'])
    assert.ok(scriptRefusals.includes(name))
  for (const name of ['socket', 'connect', 'fork', 'execve']) assert.ok(!scriptRefusals.includes(name))
})
