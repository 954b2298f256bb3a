/** A file name that is safe in every folder and in every object store. */
import { AppError, limits } from '#model'

/**
 * NFC; anything but `[A-Za-z0-9._-]` is `_`; no leading dot; cut to the limit in front of its
 * extension.
 */
export function artifactName(name: string): string {
  const clean = name
    .normalize('NFC')
    .replace(/[^A-Za-z0-9._-]/gu, '_')
    .replace(/^\.+/, '')
  if (clean === '') {
    const details = 'nothing is left of it without leading dots'
    throw new AppError('INVALID_INPUT_PARAM', `Cannot name an artifact "${name}": ${details}`, {
      param: 'name',
      details,
      value: name,
    })
  }
  return cut(clean, limits.artifactNameBytesMax)
}

function cut(name: string, bytesMax: number): string {
  if (name.length <= bytesMax) return name
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot < bytesMax ? name.slice(dot) : ''
  return name.slice(0, bytesMax - extension.length) + extension
}
