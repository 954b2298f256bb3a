/**
 * Another system in the place of this one's `/usr`: a folder that holds its root, or the archive
 * that a container was exported to.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { AppError, replaceFile } from '#model'
import { hostPath } from '#sandbox/host'

const fileOf = (folder: string) => join(folder, 'image.json')

/** What was chosen for this workspace; null: this system. */
export function chosenImage(folder: string): string | null {
  try {
    return (JSON.parse(readFileSync(fileOf(folder), 'utf8')) as { image: string }).image
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null
    const message = `Cannot read which image was chosen: ${fileOf(folder)} is damaged; choose again: metier sandbox build --image`
    throw new AppError('SANDBOX_SETUP_FAILED', message, {}, thrown)
  }
}

/** What was unpacked before is removed: it is not used again. */
export function rememberImage(folder: string, image: string | null): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder).filter((one) => /^image-[0-9a-f]{16}$/.test(one))) {
    if (join(folder, name) !== image) rmSync(join(folder, name), { recursive: true, force: true })
  }
  if (image === null) return rmSync(fileOf(folder), { force: true })
  replaceFile(fileOf(folder), JSON.stringify({ image }))
}

/**
 * A folder stays where it is; an archive is unpacked once, below the state folder, readable and
 * without the rights of others.
 */
export async function openImage(folder: string, source: string): Promise<string> {
  const path = resolve(source)
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw refusal(source, 'there is no such folder or archive')
  if (found.isDirectory()) return path
  const unpacked = join(folder, `image-${(await digestOf(path)).slice(0, 16)}`)
  if (existsSync(unpacked)) return unpacked
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = mkdtempSync(join(folder, 'image-draft-'))
  const run = promisify(execFile)
  const env = { PATH: hostPath }
  try {
    const options = [
      '--no-same-owner',
      '--no-same-permissions',
      '--delay-directory-restore',
      '--exclude=dev/*',
      '--exclude=./dev/*',
    ]
    await run('tar', ['-x', '-f', path, '-C', draft, ...options], { env })
    await run('chmod', ['-R', 'u+rwX,a+rX,a-st', draft], { env })
    renameSync(draft, unpacked)
  } catch (thrown) {
    throw refusal(source, `it cannot be unpacked (${(thrown as Error).message.trim().split('\n').at(-1)})`)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return unpacked
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

function refusal(image: string, details: string): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot use the image "${image}": ${details}`, { param: 'image', details })
}
