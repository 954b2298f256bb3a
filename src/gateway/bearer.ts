/** The bearer token of a home: whoever can read the home folder may speak to its gateway, and nobody else. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { AppError, limits } from '#model'
import { homePaths } from '#record'

export const tokenFile = (home: string) => join(homePaths(home).keys, 'gateway-token')

/** Made once and kept, so that hosts which know it stay connected. */
export function readToken(home: string, file = tokenFile(home)): string {
  mkdirSync(homePaths(home).keys, { recursive: true, mode: 0o700 })
  if (!existsSync(file)) makeToken(file)
  const token = readFileSync(file, 'utf8').trim()
  if (token.length >= limits.gatewayTokenCharactersMin) return token
  const message = `Cannot open the gateway: the token in "${file}" is too short; remove the file, and a new one is made`
  throw new AppError('CONFIG_INVALID', message, { file })
}

/** It gets its name when it is whole, so that of two who make it at once both read the same. */
function makeToken(file: string): void {
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Takes as long for a wrong token as for the right one. */
export function bears({ authorization = '' }: IncomingHttpHeaders, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}

export function tokenMissing(): AppError {
  return new AppError('PERMISSION_DENIED', 'Cannot answer: the bearer token of this gateway is missing or wrong')
}
