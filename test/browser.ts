/**
 * A real browser for tests, spoken to over the DevTools protocol: it opens pages, evaluates in
 * them, presses keys and takes pictures.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

const programs = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Null where there is none: a test that needs it says so. */
export const browserProgram = programs.find((path) => existsSync(path)) ?? null

export type Page = {
  /** Resolves when the page has loaded. */
  open(url: string): Promise<void>
  /**
   * The value of an expression in the page; what it makes the page load is waited for with `loads`.
   */
  evaluate(expression: string): Promise<unknown>
  loads(action: () => Promise<unknown>): Promise<void>
  /** A PNG of what is seen. */
  picture(): Promise<Buffer>
}

// biome-ignore lint/suspicious/noExplicitAny: the protocol has hundreds of shapes; a test looks at a few members of some.
type CdpResult = any

/** One tab of a browser with a profile of its own, which ends with the test. */
export async function openBrowser(t: TestContext): Promise<Page> {
  const profile = mkdtempSync(join(tmpdir(), 'metier-browser-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--window-size=900,1000']
  const child = spawn(
    browserProgram!,
    [...flags, `--user-data-dir=${profile}`, '--remote-debugging-port=0', 'about:blank'],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  )
  t.after(async () => {
    process.kill(-child.pid!, 'SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
  })
  const port = await debuggingPort(child.stderr!)
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as CdpResult[]
  return speak(targets.find(({ type }) => type === 'page').webSocketDebuggerUrl)
}

async function debuggingPort(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) return port
  }
  throw new Error('Cannot use the browser: it ended before it listened')
}

async function speak(url: string): Promise<Page> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const waiting = new Map<number, (message: CdpResult) => void>()
  const loaded = new Set<() => void>()
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as CdpResult
    if (message.method === 'Page.loadEventFired') for (const wake of loaded) wake()
    waiting.get(message.id)?.(message)
  })
  const send = (method: string, params: object = {}): Promise<CdpResult> => {
    const { promise, resolve, reject } = Promise.withResolvers<CdpResult>()
    const id = ++last
    waiting.set(id, ({ result, error }) => (error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result)))
    socket.send(JSON.stringify({ id, method, params }))
    return promise
  }
  const loads: Page['loads'] = async (action) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    loaded.add(resolve)
    await action()
    await promise
    loaded.delete(resolve)
  }
  await send('Page.enable')
  return {
    loads,
    open: (to) => loads(() => send('Page.navigate', { url: to })),
    evaluate: async (expression) => (await send('Runtime.evaluate', { expression, returnByValue: true })).result.value,
    picture: async () => Buffer.from((await send('Page.captureScreenshot')).data, 'base64'),
  }
}
