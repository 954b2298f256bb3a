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

/** The words are fixed: they mark in the transcript where output begins. */
export function toolFeedback(output: string, path: string): string {
  return `System: Tool executed. Artifacts saved. Output:\n${bounded(output, `in ${path}`)}`
}

/** `call` is the one that ran the script: the verb `result` pages through what is left out. */
export function reboundFeedback(prompt: string, ran: Ran, call: string): string {
  const { returncode } = ran
  const [stdout, stderr] = streamsOf(ran, call).map(({ text, place }) => bounded(text, place))
  return `${prompt}\n\n[RETURN CODE] ${returncode}\n[STDOUT]\n${stdout}\n[STDERR]\n${stderr}${outputsText(ran)}`
}

/** What a script printed, each with the place of all of it. */
export function streamsOf({ stdout, stderr }: Ran, call: string): { name: string; text: string; place: string }[] {
  return [
    { name: 'STDOUT', text: stdout, place: `/stdout of call ${call}` },
    { name: 'STDERR', text: stderr, place: `/stderr of call ${call}` },
  ]
}

function outputsText({ artifacts = [], missing = [] }: Ran): string {
  const stored = artifacts.map(({ path, bytes, storagePath }) => `${path}: ${bytes} bytes, stored as ${storagePath}`)
  const lost = missing.map(({ path, reason }) => `${path}: not stored, ${reason}`)
  return stored.length + lost.length === 0 ? '' : `\n[OUTPUTS]\n${[...stored, ...lost].join('\n')}`
}

const notUsed = 'System: Your answer was not used: '

export function isMistakeFeedback(text: string): boolean {
  return text.startsWith(notUsed)
}

/** `written` are files of the same answer that stand already. */
export function mistakeFeedback(reason: string, written: readonly string[] = []): string {
  const done =
    written.length === 0 ? 'Nothing of it was done' : `Only these files of it were written: ${written.join(', ')}`
  return `${notUsed}${reason}. ${done}. Send it again as the protocol says.`
}

/** Head and tail, and the place of all of it; never half of a surrogate pair. */
export function bounded(text: string, place: string): string {
  if (Buffer.byteLength(text) <= limits.feedbackBytesMax) return text
  const size = limits.feedbackBytesMax / 8
  const head = text.slice(0, size).replace(/[\ud800-\udbff]$/, '')
  const tail = text.slice(-size).replace(/^[\udc00-\udfff]/, '')
  return `${head}\n… ${text.length - head.length - tail.length} characters left out, all of it is ${place} …\n${tail}`
}

function oneLineLess(text: string): string {
  return text.replace(/\r?\n$/, '')
}
