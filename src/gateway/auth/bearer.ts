/**
 * The bearer token of a home: only those who can read the home folder may send requests to its
 * gateway.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { AppError, limits, sha256Bytes } from '#model'
import { keysFolder } from '#verbs'

export const tokenFile = (home: string) => join(keysFolder(home), 'gateway-token')

/** Made once and kept, so that hosts which know it stay connected. */
export function readToken(home: string, file = tokenFile(home)): string {
  mkdirSync(keysFolder(home), { recursive: true, mode: 0o700 })
  if (!existsSync(file)) createToken(file)
  const token = readFileSync(file, 'utf8').trim()
  if (token.length >= limits.gatewayTokenCharactersMin) return token
  const message = `Cannot open the gateway: the token in "${file}" is too short; remove the file, and a new one is made`
  throw new AppError('CONFIG_INVALID', message, { file })
}

/** It gets its name when it is whole, so that of two who make it at once both read the same. */
function createToken(file: string): void {
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
export function hasBearerToken({ authorization = '' }: IncomingHttpHeaders, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
  return timingSafeEqual(sha256Bytes(given), sha256Bytes(token))
}

export function tokenMissing(): AppError {
  return new AppError('PERMISSION_DENIED', 'Cannot answer: the bearer token of this gateway is missing or wrong')
}
