/** What the model of a session says while it says it, on one line that comes and goes. */
import { oneLine, type Terminal } from '#show/cli'

const drawnEveryMs = 100
const shownCharacters = 50

/** Answers with what ends it. `stepOf` says which step it is that is spoken in. */
export function showSpeech(terminal: Terminal, onSpeech: OnSpeech, session: string, stepOf: () => number): () => void {
  let said = ''
  let drawing: NodeJS.Timeout | undefined
  const draw = () => {
    drawing = undefined
    terminal.live(`step ${stepOf()}  ${lastWords(said)} (${said.length} characters)`)
  }
  const clear = () => {
    clearTimeout(drawing)
    drawing = undefined
    if (said !== '') terminal.live('')
    said = ''
  }
  const unsubscribe = onSpeech((run, text) => {
    if (run !== session) return
    if (text === null) return clear()
    said += text
    drawing ??= setTimeout(draw, drawnEveryMs)
  })
  return () => {
    unsubscribe()
    clear()
  }
}

type OnSpeech = (listener: (session: string, text: string | null) => void) => () => void

/** The thought of an answer that is JSON, as far as it has come; else the text itself. */
function lastWords(said: string): string {
  const [, thought] = /"thought_process"\s*:\s*"((?:[^"\\]|\\[\s\S])*)/.exec(said) ?? []
  const words = oneLine(
    (thought ?? said).replace(/\\[ntr]/g, ' ').replace(/\\(["\\/])/g, '$1'),
    Number.MAX_SAFE_INTEGER,
  )
  return words.length > shownCharacters ? `…${words.slice(1 - shownCharacters)}` : words
}
