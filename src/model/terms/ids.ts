/**
 * Branded strings for everything that has an identity: made as UUID v7, accepted as any RFC 9562
 * UUID.
 */
import { randomBytesPooled, sha256Bytes } from '#model/primitives'
import { AppError } from './errors.ts'

type Brand<Name extends string> = string & { readonly __brand: Name }

export type RunId = Brand<'RunId'>
export type CallId = Brand<'CallId'>
export type ApprovalId = Brand<'ApprovalId'>
export type ArtifactId = Brand<'ArtifactId'>
export type ProcessId = Brand<'ProcessId'>
export type ToolId = Brand<'ToolId'>

/** The names that specs/autoagent-tools.md §2 gives to the same kind of thing. */
export type MissionID = Brand<'MissionID'>
export type TaskID = Brand<'TaskID'>
export type AgentID = Brand<'AgentID'>
export type UserID = Brand<'UserID'>
export type ArtifactID = ArtifactId
export type CapabilityName = Brand<'CapabilityName'>
export type ToolName = Brand<'ToolName'>
export type ValidationID = Brand<'ValidationID'>
export type FailureID = Brand<'FailureID'>
export type TagName = Brand<'TagName'>
export type S3Path = Brand<'S3Path'>

/** Versions 1 to 8 with the RFC 9562 variant, and the nil and max UUIDs. */
const uuidPattern =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-0{4}-0{4}-0{4}-0{12}|f{8}-f{4}-f{4}-f{4}-f{12})$/i

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text)
}

/**
 * A new UUID v7: 48 bits of milliseconds, then chance. Not monotonic within a millisecond: order by
 * `seq`, never by id.
 */
export function newId<Id extends Brand<string>>(now: number = Date.now()): Id {
  const bytes = randomBytesPooled(16)
  bytes.writeUIntBE(now, 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return written(bytes) as Id
}

/** A UUID (version 8) from a text: what is derived from the same run and call has the same id. */
export function uuidOf<Id extends Brand<string>>(text: string): Id {
  const bytes = sha256Bytes(text).subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return written(bytes) as Id
}

function written(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * The id in its one written form (lower case), or INVALID_INPUT_PARAM that names the parameter, and
 * `next`: what to do about it.
 */
export function parseId<Id extends Brand<string>>(param: string, value: unknown, next = ''): Id {
  if (isUuid(value)) return value.toLowerCase() as Id
  const details = 'must be a UUID as of RFC 9562'
  throw new AppError('INVALID_INPUT_PARAM', `Cannot read "${param}": ${details}${next}`, { param, details, value })
}

/** A tool's id is `server:name`; the server is everything before the first colon. */
export function splitToolId(id: string): { server: string; name: string } | null {
  const colon = id.indexOf(':')
  return colon > 0 && colon < id.length - 1 ? { server: id.slice(0, colon), name: id.slice(colon + 1) } : null
}
