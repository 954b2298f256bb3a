/**
 * A program on a real terminal screen (tmux), for tests: what a person sees of it, and the keys
 * that a person presses.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Scope } from './scope.ts'

const run = promisify(execFile)

/** Why tests with screens cannot run; false where they can. */
export const tmuxMissing = process.env.PATH!.split(delimiter).some((folder) => existsSync(join(folder, 'tmux')))
  ? false
  : 'needs tmux: apt-get install tmux'

export type Screen = {
  /** What stands on it now, line by line, without colours. */
  text(): Promise<string>
  /** Keys by tmux's names (`Enter`, `Down`, `Escape`, `C-c`), one after the other. */
  press(...keys: string[]): Promise<void>
  /**
   * Presses a key until the screen shows what it is pressed for: a program that is just drawing may
   * miss a key.
   */
  pressUntil(key: string, wanted: RegExp): Promise<string>
  /** Types one line and, once it stands there, ends it with Enter. */
  enter(line: string): Promise<void>
  /** Resolves with the screen on which `wanted` stands; fails with the last one. */
  shows(wanted: RegExp, msMax?: number): Promise<string>
}

export type ScreenOptions = {
  command: string[]
  folder: string
  env: Record<string, string>
  columns?: number
  rows?: number
}

/** A tmux server of its own, which ends with the test and all that runs in it. */
export async function openScreen(t: Scope, options: ScreenOptions): Promise<Screen> {
  const { command, folder, env, columns = 100, rows = 50 } = options
  const socket = join(folder, `tmux-${randomBytes(4).toString('hex')}`)
  const tmux = async (...args: string[]) =>
    (await run('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env: { ...env, TERM: 'xterm-256color' } }))
      .stdout
  const size = ['-x', String(columns), '-y', String(rows)]
  await tmux(
    'new-session',
    '-d',
    ...size,
    '-c',
    folder,
    '--',
    ...command,
    ';',
    'set-option',
    '-g',
    'remain-on-exit',
    'on',
  )
  // By its process: the folder with the socket may be gone by then. It hangs up on whatever runs in
  // it.
  const server = Number(await tmux('display-message', '-p', '#{pid}'))
  t.after(() => void process.kill(server, 'SIGTERM'))
  const text = () => tmux('capture-pane', '-p', '-t', ':0')
  const press = async (...keys: string[]) => {
    for (const key of keys) {
      await tmux('send-keys', '-t', ':0', key)
      await pause(keyMs)
    }
  }
  const shows = async (wanted: RegExp, msMax = 120_000) => {
    const until = Date.now() + msMax
    for (;;) {
      const seen = await text()
      if (wanted.test(seen)) return seen
      if (Date.now() > until)
        throw new Error(`The screen never showed ${wanted}:\n${seen.replaceAll(/\n\s*\n+/g, '\n')}`)
      await pause(100)
    }
  }
  const enter = async (line: string) => {
    await tmux('send-keys', '-t', ':0', '-l', '--', line)
    await shows(new RegExp(RegExp.escape(line.slice(-8))))
    await pause(pasteMs)
    await press('Enter')
  }
  const pressUntil = async (key: string, wanted: RegExp) => {
    for (let tries = 0; tries < 20; tries++) {
      await press(key)
      const seen = await shows(wanted, pressMs).catch(() => null)
      if (seen !== null) return seen
    }
    return shows(wanted, 0)
  }
  return { text, press, shows, pressUntil, enter }
}

/** Between two keys: a program on a screen that it is just drawing may miss the second. */
const keyMs = 200
/** How long a key is given to show its effect before it is pressed again. */
const pressMs = 1500
/**
 * Programs take keys that follow each other at once for pasted text, in which Enter is a line
 * break.
 */
const pasteMs = 1000
