/** A statement in the manner of in-toto, signed with the home's key in a DSSE envelope. */
import type { KeyObject } from 'node:crypto'
import { publicKeyOf, signBytes } from '#record/disk'

const statementType = 'https://in-toto.io/Statement/v1'
const payloadType = 'application/vnd.in-toto+json'

type Subject = { name: string; digest: { sha256: string } }

/** The envelope as text; its key id is the public key itself, in hexadecimal digits. */
export function signedStatement(subject: Subject[], predicateType: string, predicate: object, key: KeyObject): string {
  const payload = Buffer.from(JSON.stringify({ _type: statementType, subject, predicateType, predicate }))
  const sig = signBytes(preAuthentication(payloadType, payload), key).toString('base64')
  const signatures = [{ keyid: publicKeyOf(key), sig }]
  return `${JSON.stringify({ payloadType, payload: payload.toString('base64'), signatures })}\n`
}

/**
 * What is signed: type and payload, each with its length, so that neither can be taken for part of
 * the other.
 */
function preAuthentication(type: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `
  return Buffer.concat([Buffer.from(head), payload])
}
