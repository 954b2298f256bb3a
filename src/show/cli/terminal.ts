/** The person at the terminal: one key, or one line that they edit. */
import type { ReadStream, WriteStream } from 'node:tty'

export type Terminal = {
  /** The next key, as the terminal sends it; null where `over` came first. */
  key(over: AbortSignal): Promise<string | null>
  /**
   * A line that begins with `text`, which can be edited; null where `over` came first or the line
   * was left.
   */
  line(prompt: string, text: string, over: AbortSignal): Promise<string | null>
  /** A line that stands until the next one takes its place; an empty one clears it. */
  live(text: string): void
}

/**
 * Null where input or output is no terminal: a person must see what is asked, and be able to
 * answer.
 */
export function openTerminal(input: ReadStream, output: WriteStream): Terminal | null {
  if (input.isTTY !== true || output.isTTY !== true) return null
  return {
    key: (over) => readKey(input, over),
    live: (text) => void output.write(`\r\u001b[K${fitting(text, (output.columns || 80) - 1)}`),
    async line(prompt, text, over) {
      const { createInterface } = await import('node:readline/promises')
      const lines = createInterface({ input, output, terminal: true })
      const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)))
      // In this mode Ctrl-C reaches only the line editor.
      lines.once('SIGINT', interrupt)
      try {
        const answer = lines.question(prompt, { signal: over })
        answer.catch(() => {})
        lines.write(text)
        return await Promise.race([answer, closed]).catch(() => null)
      } finally {
        lines.close()
        input.pause()
      }
    },
  }
}

/** As much as stands on one line: what is wide in a terminal takes two columns. */
function fitting(text: string, columns: number): string {
  let [end, left] = [0, columns]
  for (const character of text) {
    left -= character.codePointAt(0)! >= 0x1100 ? 2 : 1
    if (left < 0) break
    end += character.length
  }
  return text.slice(0, end)
}

const interrupt = () => process.kill(process.pid, 'SIGINT')

async function readKey(input: ReadStream, over: AbortSignal): Promise<string | null> {
  if (over.aborted) return null
  input.setRawMode(true)
  input.resume()
  try {
    const key = await new Promise<string | null>((resolve) => {
      input.once('data', (data) => resolve(String(data)))
      over.addEventListener('abort', () => resolve(null), { once: true })
    })
    // Raw input carries Ctrl-C as a character instead of a signal.
    if (key === '\u0003') interrupt()
    return key === '\u0003' ? null : key
  } finally {
    input.removeAllListeners('data')
    input.setRawMode(false)
    input.pause()
  }
}
