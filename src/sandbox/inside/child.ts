/** The process inside the box: reads one message a line, answers each with one line, and knows no other way out. */
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
let unread: Buffer[] = []
const lines: string[] = []

/** The next message; null when the parent is gone. Blocking is right here: there is nothing else to do. */
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

/** Turns whose deliveries came together go back together, some at a time, so that the parent reads while we go on. */
function send(line: string): void {
  unsent += `${line}\n`
  if (lines.length > 0 && lines.length % turnsTogetherMax !== 0 && unsent.length < turnsTogetherCharactersMax) return
  const bytes = Buffer.from(unsent)
  unsent = ''
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(1, bytes, sent)
}

const parent = process.ppid

/** While the engine works, the end of the input is not seen; where bubblewrap does not end us with our parent, we do. */
function exitWithParent(): void {
  if (process.ppid !== parent) process.exit()
}

/** A fresh engine with the prelude in it, ready for one program. */
type MakeMachine = (limits: MachineLimits) => Promise<Machine>

async function makerOf({ addon, ...bounds }: BootMessage): Promise<MakeMachine> {
  if (addon !== null) {
    const isolated = loadIsolatedVm(addon)
    return async (limits) => createV8Machine(isolated, bounds.guest, limits)
  }
  const parts = await loadEngine(bounds, exitWithParent)
  return (limits) => createMachine(parts, limits)
}

async function main(): Promise<void> {
  const first = receive()
  if (first === null || !('boot' in first)) return
  const usual = first.boot.machine
  const make = await makerOf(first.boot)
  let ready = await make(usual)
  let running: Machine | null = null
  send(JSON.stringify({ ready: true, confined: process.permission?.has('fs.write') === false }))
  for (let message = receive(); message !== null; message = receive()) {
    if ('start' in message) {
      const isUsual = JSON.stringify(message.start.limits) === JSON.stringify(usual)
      running = isUsual ? ready : await make(message.start.limits)
      send(await running.start(message.start))
    } else if ('deliver' in message) {
      send(running === null ? emptyTurn : await running.deliver(message.deliver))
    } else send(emptyTurn)
    if (running?.over || 'drop' in message) {
      // The next program finds its engine ready.
      if (running !== null && !running.reset() && running === ready) ready = await make(usual)
      running = null
    }
  }
}

await main()
