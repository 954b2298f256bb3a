/** The filter of system calls, run as the kernel would run it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seccompFilter } from './seccomp.ts'

const [allow, kill, notPermitted, notThere] = [0x7fff0000, 0x80000000, 0x00050001, 0x00050026]
const audit = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** The part of the kernel's machine that the filter uses. */
function run(filter: Buffer, call: { number: number; architecture: number; argument?: number }): number {
  const data: Record<number, number> = { 0: call.number, 4: call.architecture, 16: call.argument ?? 0 }
  let held = 0
  for (let at = 0; at < filter.length; at += 8) {
    const [code, yes, no] = [filter.readUInt16LE(at), filter[at + 2]!, filter[at + 3]!]
    const value = filter.readUInt32LE(at + 4)
    if (code === 0x06) return value
    if (code === 0x20) held = data[value]!
    else {
      const truth = { 21: held === value, 53: held >= value, 69: (held & value) !== 0 }[code]
      assert(truth !== undefined, `an unknown instruction: ${code}`)
      at += 8 * (truth ? yes : no)
    }
  }
  throw new Error('the filter ends without an answer')
}

test('seccompFilter() refuses sockets, processes and the kernel’s back doors, and lets the engine work', () => {
  const numbers = {
    x64: {
      read: 0,
      mmap: 9,
      futex: 202,
      execve: 59,
      socket: 41,
      connect: 42,
      fork: 57,
      ptrace: 101,
      bpf: 321,
      clone: 56,
    },
    arm64: {
      read: 63,
      mmap: 222,
      futex: 98,
      execve: 221,
      socket: 198,
      connect: 203,
      fork: -1,
      ptrace: 117,
      bpf: 280,
      clone: 220,
    },
  }
  for (const machine of ['x64', 'arm64'] as const) {
    const filter = seccompFilter(machine)!
    const architecture = audit[machine]
    const { read, mmap, futex, execve, socket, connect, fork, ptrace, bpf, clone } = numbers[machine]
    for (const number of [read, mmap, futex, execve]) assert.equal(run(filter, { number, architecture }), allow)
    for (const number of [socket, connect, fork, ptrace, bpf]) {
      if (number >= 0) assert.equal(run(filter, { number, architecture }), notPermitted, `${machine} ${number}`)
    }
    assert.equal(run(filter, { number: clone, architecture, argument: 0x003d0f00 }), allow, 'a thread')
    assert.equal(run(filter, { number: clone, architecture, argument: 17 }), notPermitted, 'a process')
    assert.equal(run(filter, { number: clone, architecture, argument: 0x10000000 }), notPermitted, 'a namespace')
    assert.equal(run(filter, { number: 435, architecture }), notThere, 'clone3 falls back to clone')
    assert.equal(run(filter, { number: 0x40000000, architecture }), kill, 'the other numbering')
    assert.equal(run(filter, { number: read, architecture: 0x40000003 }), kill, 'the other architecture')
  }
})

test('seccompFilter() knows no filter for a machine it was not written for', () => {
  assert.equal(seccompFilter('riscv64'), null)
})
