/**
 * The files that a script may read: checked, then copied into the box's own folder at the last
 * moment.
 */
import { constants } from 'node:fs'
import { chmod, type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError, limits } from '#model'
import { parseBoxPath, refuseOverlaps } from '#sandbox/script-box'

/**
 * `path` is where the script finds it, below `/inputs/`; `source` is a file of the host or its
 * bytes.
 */
export type ScriptInput = { path: string; source: string | AsyncIterable<Uint8Array> }

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * The same inputs, each with a normalised path; refuses what lies elsewhere and what would lie on
 * another.
 */
export function parseInputs(inputs: unknown): ScriptInput[] {
  if (inputs === undefined) return []
  if (!Array.isArray(inputs)) throw refusal('must be a list of paths and sources')
  if (inputs.length > limits.scriptInputsMax) throw refusal(`must be at most ${limits.scriptInputsMax}`, inputs.length)
  const parsed = inputs.map(parseInput)
  refuseOverlaps(
    parsed.map(({ path }) => path),
    refusal,
  )
  return parsed
}

function parseInput(input: unknown): ScriptInput {
  const { path, source } = (input ?? {}) as Partial<ScriptInput>
  if (typeof path !== 'string' || path === '') throw refusal('must each have a path', path)
  const isSource = typeof source === 'string' || (typeof source === 'object' && Symbol.asyncIterator in source)
  if (!isSource) throw refusal('must each have a source', path)
  return { path: parseBoxPath('/inputs/', path, refusal), source }
}

function refusal(details: string, value?: unknown): AppError {
  const context = { param: 'inputs', details, ...(value === undefined ? {} : { value }) }
  return new AppError('INVALID_INPUT_PARAM', `Cannot run the script: its inputs ${details}`, context)
}

/**
 * Copies everything below `folder`, which is `/inputs` of the box. Nothing there can be a link:
 * only we write to it.
 */
export async function fillInputs(folder: string, inputs: ScriptInput[]): Promise<void> {
  let left = limits.scriptInputsBytesMax
  for (const { path, source } of inputs) {
    const target = join(folder, path.slice('/inputs/'.length))
    await makeFolders(folder, dirname(target))
    const file = await open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o444)
    try {
      for await (const chunk of typeof source === 'string' ? readFile(source) : source) {
        left -= chunk.length
        if (left < 0) throw refusal(`must have at most ${limits.scriptInputsBytesMax} bytes together`, path)
        await file.write(chunk)
      }
      await file.chmod(0o444)
    } finally {
      await file.close()
    }
  }
}

async function makeFolders(root: string, folder: string): Promise<void> {
  if (folder === root) return
  await makeFolders(root, dirname(folder))
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o755)
}

/**
 * A plain file and no link: a link in a folder that others can write to would show the script what
 * it points at.
 */
async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  const file = await openPlain(path)
  try {
    for await (const chunk of file.createReadStream({ autoClose: false })) yield chunk as Buffer
  } finally {
    await file.close()
  }
}

async function openPlain(path: string): Promise<FileHandle> {
  let file: FileHandle
  try {
    file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (thrown) {
    throw refusal(`cannot be read (${(thrown as NodeJS.ErrnoException).code})`, path)
  }
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw refusal('must be plain files', path)
}
