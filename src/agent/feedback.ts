/** What the model is told of what happened, in the words of the two specifications. */
import { limits } from '#model'

/** A script as it ended: with a number, or with the word that says why it has none. */
export type Ran = {
  returncode: number | 'timeout' | 'refused' | 'failed'
  stdout: string
  stderr: string
  /** What it left below `/outputs`, stored. */
  artifacts?: StoredOutput[]
  missing?: { path: string; reason: string }[]
}

export type StoredOutput = { path: string; artifactID: string; storagePath: string; bytes: number; sha256: string }

export function toolOutput({ returncode, stdout, stderr }: Ran): string {
  return `returncode: ${returncode}\n\n[STDOUT]\n${oneLineLess(stdout)}\n\n[STDERR]\n${oneLineLess(stderr)}\n`
}

/** The words are fixed: they say to whoever reads the transcript where output begins. */
export function toolFeedback(output: string, path: string): string {
  return `System: Tool executed. Artifacts saved. Output:\n${bounded(output, `all of it is in ${path}`)}`
}

export function reboundFeedback(prompt: string, ran: Ran): string {
  const { returncode, stdout, stderr } = ran
  const where = 'all of it is in the ledger'
  const streams = `[STDOUT]\n${bounded(stdout, where)}\n[STDERR]\n${bounded(stderr, where)}`
  return `${prompt}\n\n[RETURN CODE] ${returncode}\n${streams}${outputsText(ran)}`
}

function outputsText({ artifacts = [], missing = [] }: Ran): string {
  const stored = artifacts.map(({ path, bytes, storagePath }) => `${path}: ${bytes} bytes, stored as ${storagePath}`)
  const lost = missing.map(({ path, reason }) => `${path}: not stored, ${reason}`)
  return stored.length + lost.length === 0 ? '' : `\n[OUTPUTS]\n${[...stored, ...lost].join('\n')}`
}

/** `written` are files of the same answer that stand already. */
export function mistakeFeedback(reason: string, written: readonly string[] = []): string {
  const done =
    written.length === 0 ? 'Nothing of it was done' : `Only these files of it were written: ${written.join(', ')}`
  return `System: Your answer was not used: ${reason}. ${done}. Send it again as the protocol says.`
}

/** Head and tail, and where the rest is; never half of a surrogate pair. */
export function bounded(text: string, where: string): string {
  if (Buffer.byteLength(text) <= limits.feedbackBytesMax) return text
  const size = limits.feedbackBytesMax / 8
  const head = text.slice(0, size).replace(/[\ud800-\udbff]$/, '')
  const tail = text.slice(-size).replace(/^[\udc00-\udfff]/, '')
  return `${head}\n… ${text.length - head.length - tail.length} characters left out, ${where} …\n${tail}`
}

function oneLineLess(text: string): string {
  return text.replace(/\r?\n$/, '')
}
