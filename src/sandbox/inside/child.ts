/**
 * The process inside the box: reads one message a line, answers each with one line, and knows no
 * other way out.
 */
import { readSync, writeSync } from 'node:fs'
import { type EngineBounds, loadEngine } from './load-engine.ts'
import {
  createMachine,
  type DeliverMessage,
  emptyTurn,
  type Machine,
  type MachineLimits,
  type StartMessage,
} from './machine.ts'
import { createV8Machine, loadIsolatedVm } from './v8-machine.ts'

export type BootMessage = EngineBounds & {
  machine: MachineLimits
  /** Where the box shows the addon of another engine; null: QuickJS. */
  addon: string | null
}
export type ReadyMessage = { ready: true; confined: boolean }
export type Message = { boot: BootMessage } | { start: StartMessage } | { deliver: DeliverMessage } | { drop: true }

const input = Buffer.alloc(64 * 1024)
const turnsTogetherMax = 16
const turnsTogetherCharactersMax = 64 * 1024
const turnsTogetherMsMax = 50
let unread: Buffer[] = []
const lines: string[] = []

/**
 * The next message; null when the parent is gone. Blocking is right here: there is nothing else to
 * do.
 */
function receive(): Message | null {
  while (lines.length === 0) {
    const size = readSync(0, input)
    if (size === 0) return null
    split(Buffer.from(input.subarray(0, size)))
  }
  return JSON.parse(lines.shift()!)
}

function split(chunk: Buffer): void {
  let from = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
    lines.push(Buffer.concat([...unread, chunk.subarray(from, at)]).toString())
    unread = []
    from = at + 1
  }
  if (from < chunk.length) unread.push(chunk.subarray(from))
}

let unsent = ''
let unsentSince = 0

/**
 * Turns whose deliveries came together go back together, some at a time, so that the parent reads
 * while we go on.
 */
function send(line: string): void {
  if (unsent === '') unsentSince = performance.now()
  unsent += `${line}\n`
  const isSoon = performance.now() - unsentSince < turnsTogetherMsMax
  const isLittle = lines.length % turnsTogetherMax !== 0 && unsent.length < turnsTogetherCharactersMax
  if (lines.length > 0 && isSoon && isLittle) return
  const bytes = Buffer.from(unsent)
  unsent = ''
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(1, bytes, sent)
}

const parent = process.ppid

/**
 * While the engine works, the end of the input is not seen; where bubblewrap does not end us with
 * our parent, we do.
 */
function exitWithParent(): void {
  if (process.ppid !== parent) process.exit()
}

type MakeMachine = (limits: MachineLimits, isTraced: boolean) => Promise<Machine>

async function makerOf({ addon, ...bounds }: BootMessage): Promise<MakeMachine> {
  if (addon !== null) {
    const isolated = loadIsolatedVm(addon)
    return async (limits) => createV8Machine(isolated, bounds.guest, limits)
  }
  const parts = await loadEngine(bounds, exitWithParent)
  return (limits, isTraced) => createMachine(parts, limits, isTraced)
}

async function main(): Promise<void> {
  const first = receive()
  if (first === null || !('boot' in first)) return
  const make = await makerOf(first.boot)
  /** Most programs want the same as the one before. */
  let wanted: Parameters<MakeMachine> = [first.boot.machine, true]
  let ready = await make(...wanted)
  let running: Machine | null = null
  send(JSON.stringify({ ready: true, confined: process.permission?.has('fs.write') === false }))
  for (let message = receive(); message !== null; message = receive()) {
    if ('start' in message) {
      const { limits, isTraced } = message.start
      if (JSON.stringify([limits, isTraced]) !== JSON.stringify(wanted)) {
        ready.reset()
        wanted = [limits, isTraced]
        ready = await make(...wanted)
      }
      running = ready
      send(await running.start(message.start))
    } else if ('deliver' in message) {
      send(running === null ? emptyTurn : await running.deliver(message.deliver))
    } else send(emptyTurn)
    if (running?.over || 'drop' in message) {
      // The next program finds its engine ready.
      if (running !== null && !running.reset()) ready = await make(...wanted)
      running = null
    }
  }
}

await main()
