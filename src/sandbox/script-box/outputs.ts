/**
 * The files that a script hands out: named before it runs, sent by the first process of its box
 * when nothing else in there is alive, and received into a folder of ours. Nothing of the host is
 * opened by a name that the script chose.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError, limits } from '#model'
import { parseBoxPath, refuseOverlaps } from './box-path.ts'
import type { StatusReader } from './status-reader.ts'

/**
 * Why there is nothing of a file: no such file; a link, folder, pipe or device; more bytes than are
 * left; no right to read it.
 */
const missingReasons = ['absent', 'not_regular', 'too_large', 'unreadable'] as const
/** Said of the folder, where all that is in it was asked for. */
type TooMany = 'too_many'

export type MissingOutput = { path: string; reason: (typeof missingReasons)[number] | TooMany }
export type ScriptOutput = { path: string; bytes: number; sha256: string }

/** What a box is asked for, and the folder of the host that takes it. */
export type OutputOrder = { paths: readonly string[]; folder: string }

/** Instead of paths: every regular file that the script left there. */
export const everyOutput: readonly string[] = ['/outputs']
export type Received = { files: (ScriptOutput & { file: string })[]; missing: MissingOutput[] }

/** Takes each file while it is there; what it throws is what becomes of the script. */
export type OnOutput = (output: ScriptOutput & { content: AsyncIterable<Uint8Array> }) => Promise<void>

export function parseOutputs(outputs: unknown): readonly string[] {
  if (outputs === undefined) return []
  if (outputs === 'all') return everyOutput
  if (!Array.isArray(outputs)) throw refusal('must be a list of paths')
  const most = limits.scriptOutputFilesMax
  if (outputs.length > most) throw refusal(`must be at most ${most}`, outputs.length)
  const paths = outputs.map((path) => {
    if (typeof path !== 'string') throw refusal('must be a list of paths', path)
    return parseBoxPath('/outputs/', path, refusal)
  })
  refuseOverlaps(paths, refusal)
  return paths
}

function refusal(details: string, value?: unknown): AppError {
  const context = { param: 'outputs', details, ...(value === undefined ? {} : { value }) }
  return new AppError('INVALID_INPUT_PARAM', `Cannot run the script: its outputs ${details}`, context)
}

/**
 * For the first process of a box, whose arguments are the paths. It ends everything else first: who
 * is dead changes no file between the look at it and its last byte. `jobs` buries the dead without
 * a new process, for which there may be no room. Of each path it says in one line why it is not
 * sent, or how many bytes follow; a link is not followed, neither as the file nor on the way to it.
 * Where all files are asked for, the name of each comes before it, by its length.
 */
export const handOut = `
alone() { set -- /proc/[0-9]*; [ $# -le 1 ]; }
until alone; do kill -9 -1; jobs >/dev/null; done
left=${limits.scriptOutputFilesBytesMax}
look() {
  at=/outputs rest=\${1#/outputs/} why=
  while [ -n "$rest" ]; do
    at=$at/\${rest%%/*}
    case $rest in */*) rest=\${rest#*/};; *) rest=;; esac
    [ ! -L "$at" ] || { why=not_regular; return; }
  done
  [ -e "$at" ] || { why=absent; return; }
  [ -f "$at" ] || { why=not_regular; return; }
  n=$(wc -c <"$at") && n=$((n)) || { why=unreadable; return; }
  [ "$n" -le ${limits.artifactBytesMax} ] && [ "$n" -le "$left" ] || why=too_large
}
give() {
  look "$1"
  if [ -n "$why" ]; then echo "$why" >&3; return; fi
  left=$((left - n))
  echo "file $n" >&3
  head -c "$n" <"$at" >&3
}
count=${limits.scriptOutputFilesMax}
all() {
  for one in "$1"/* "$1"/.[!.]*; do
    if [ ! -L "$one" ] && [ ! -e "$one" ]; then continue; fi
    if [ ! -L "$one" ] && [ -d "$one" ]; then all "$one"; continue; fi
    [ "$count" -gt 0 ] || { count=-1; return; }
    count=$((count - 1))
    name=\${one#/outputs/}
    echo "name $(($(printf %s "$name" | wc -c)))" >&3
    printf %s "$name" >&3
    give "$one"
  done
}
if [ "$1" = /outputs ]; then left=${limits.agentOutputBytesMax}; all /outputs; set --; fi
for path in "$@"; do give "$path"; done
[ "$count" -ge 0 ] || echo more >&3
echo end >&3`

/** Every word of the box is taken for a lie: what does not fit, and what is too much, ends it. */
export async function receiveOutputs(status: StatusReader, { paths, folder }: OutputOrder): Promise<Received> {
  await mkdir(folder, { mode: 0o700 })
  const received: Received = { files: [], missing: [] }
  const isAll = paths[0] === everyOutput[0]
  let left: number = isAll ? limits.agentOutputBytesMax : limits.scriptOutputFilesBytesMax
  const names = isAll ? namedBy(status, received) : paths
  for await (const path of names) {
    const line = await status.line()
    const reason = missingReasons.find((one) => one === line)
    if (reason !== undefined) {
      received.missing.push({ path, reason })
      continue
    }
    const bytes = announcedBytes(line, left)
    left -= bytes
    const file = join(folder, String(received.files.length))
    received.files.push({ path, bytes, sha256: await receiveFile(status, bytes, file), file })
  }
  if (!isAll && (await status.line()) !== 'end') throw new Error('it did not say that this was all')
  return received
}

/** The names that a box gives to its files; they name nothing on the host. */
async function* namedBy(status: StatusReader, { missing }: Received): AsyncGenerator<string> {
  for (let count = 0; ; count++) {
    const line = await status.line()
    if (line === 'end') return
    if (line === 'more' && (await status.line()) === 'end')
      return void missing.push({ path: '/outputs/', reason: 'too_many' })
    const bytes = Number(/^name (\d{1,4})$/.exec(line ?? '')?.[1] ?? Number.NaN)
    if (count >= limits.scriptOutputFilesMax || !(bytes > 0)) throw new Error(`it said ${JSON.stringify(line)}`)
    const chunks = await Array.fromAsync(status.bytes(bytes))
    yield `/outputs/${Buffer.concat(chunks).toString('utf8')}`
  }
}

function announcedBytes(line: string | null, left: number): number {
  const bytes = Number(/^file (\d{1,12})$/.exec(line ?? '')?.[1] ?? Number.NaN)
  if (bytes <= Math.min(left, limits.artifactBytesMax)) return bytes
  throw new Error(line === null ? 'it ended too early' : `it said ${JSON.stringify(line)}`)
}

async function receiveFile(status: StatusReader, bytes: number, file: string): Promise<string> {
  const hash = createHash('sha256')
  async function* hashed() {
    for await (const chunk of status.bytes(bytes)) {
      hash.update(chunk)
      yield chunk
    }
  }
  await pipeline(hashed, createWriteStream(file, { flags: 'wx', mode: 0o600 }))
  return hash.digest('hex')
}

/** Gives each file away, one after the other. */
export async function giveOutputs({ files }: Received, onOutput: OnOutput): Promise<ScriptOutput[]> {
  const given: ScriptOutput[] = []
  for (const { file, ...output } of files) {
    await onOutput({ ...output, content: createReadStream(file) })
    given.push(output)
  }
  return given
}
