/**
 * Verifies an exported run with nothing but Node's standard library: node verify.mjs [FOLDER] [--key PUBLIC_KEY]
 *
 * The signature vouches for manifest.json, the manifest for every file, the chain of hashes for the order of the events, and the
 * events name the blobs and artifacts. Exit 0 if all of it holds, 1 with the first thing that does not. With --key the signature must
 * be of that key (64 hexadecimal digits); without, whose key it is remains for you to find out.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const payloadType = 'application/vnd.in-toto+json'
const predicateType = 'urn:metier:run-export:v1'

class Refusal extends Error {}

function demand(condition, reason) {
  if (!condition) throw new Refusal(reason)
}

function verifyFolder(folder, expectedKey) {
  const { predicate, manifestDigest, key } = readStatement(folder)
  demand(expectedKey === undefined || key === expectedKey, `statement.dsse.json is signed with another key, ${key}`)
  const text = readFileSync(join(folder, 'manifest.json'))
  demand(sha256(text) === manifestDigest, 'manifest.json is not the one that was signed')
  const manifest = JSON.parse(text)
  for (const name of ['run', 'count', 'head', 'status', 'complete']) {
    demand(manifest[name] === predicate[name], `manifest.json and the statement differ in "${name}"`)
  }
  checkFiles(folder, manifest.files)
  const named = checkEvents(folder, manifest)
  const kept = manifest.files.map(({ path }) => path).filter((path) => /^(blobs|artifacts)\//.test(path))
  for (const path of kept) demand(named.has(path), `no event names ${path}`)
  for (const path of named) demand(kept.includes(path), `${path} is missing`)
  return { ...manifest, key }
}

/** The envelope must be written in exactly one way: so no byte of it can change unnoticed. */
function readStatement(folder) {
  const text = readFileSync(join(folder, 'statement.dsse.json'), 'utf8')
  const { payload, signatures } = JSON.parse(text)
  const [{ keyid, sig }] = signatures
  const same = `${JSON.stringify({ payloadType, payload, signatures: [{ keyid, sig }] })}\n`
  demand(text === same && isBase64(payload) && isBase64(sig), 'statement.dsse.json is not written as it should be')
  demand(/^[0-9a-f]{64}$/.test(keyid), 'statement.dsse.json names no public key')
  const bytes = Buffer.from(payload, 'base64')
  const x = Buffer.from(keyid, 'hex').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${bytes.length} `), bytes])
  demand(verify(null, signed, key, Buffer.from(sig, 'base64')), 'the signature in statement.dsse.json does not fit')
  const statement = JSON.parse(bytes)
  demand(statement._type === 'https://in-toto.io/Statement/v1', 'the statement is of another type')
  demand(statement.predicateType === predicateType, 'the statement is about something else')
  const { subject, predicate } = statement
  demand(subject.length === 1 && subject[0].name === 'manifest.json', 'the statement is not about manifest.json')
  return { predicate, manifestDigest: subject[0].digest.sha256, key: keyid }
}

function isBase64(text) {
  return typeof text === 'string' && Buffer.from(text, 'base64').toString('base64') === text
}

/** Every file of the manifest with its size and digest, and no other. */
function checkFiles(folder, files) {
  const found = new Set(filesIn(folder, ''))
  for (const own of ['manifest.json', 'statement.dsse.json']) demand(found.delete(own), `${own} is missing`)
  for (const { path, bytes, sha256: digest } of files) {
    demand(found.delete(path), `${path} is missing`)
    const actual = digestOf(join(folder, path))
    demand(actual.bytes === bytes && actual.digest === digest, `${path} was changed`)
  }
  for (const path of found) demand(false, `${path} does not belong here`)
}

function filesIn(folder, path) {
  return readdirSync(join(folder, path)).flatMap((name) => {
    const below = path === '' ? name : `${path}/${name}`
    const { isFile, isDirectory } = kindOf(join(folder, below))
    demand(isFile || isDirectory, `${below} is no file`)
    if (isFile) return [below]
    demand(below === 'blobs' || /^artifacts(\/[^/]+)?$/.test(below), `${below} does not belong here`)
    return filesIn(folder, below)
  })
}

function kindOf(path) {
  const found = lstatSync(path)
  return { isFile: found.isFile(), isDirectory: found.isDirectory() }
}

/** The chain from its first event to its head; answers with the files that its events name. */
function checkEvents(folder, { run, count, head, complete }) {
  const named = new Set()
  let [n, hash, at, type] = [0, '0'.repeat(64), '', '']
  for (const line of linesOf(join(folder, 'events.jsonl'))) {
    n += 1
    const text = line.toString()
    const start = /^\{"run":"([^"\\]*)","n":(\d+),"at":"([^"\\]*)","type":"([^"\\]*)","body":\{/.exec(text)
    demand(start !== null && start[1] === run && start[2] === String(n), `line ${n} is not event ${n} of the run`)
    demand(type !== 'run.finished', `event ${n} comes after the end of the run`)
    demand(start[3] >= at, `event ${n} is earlier than the one before`)
    at = start[3]
    type = start[4]
    hash = createHash('sha256').update(`${hash}\n`).update(line).digest('hex')
    if (text.includes('"$blob"') || type === 'artifact.stored') nameFiles(folder, n, JSON.parse(text), named)
  }
  demand(n === count && hash === head, 'the events do not lead to the head that was signed')
  demand(complete === (type === 'run.finished'), 'whether the run is finished is not what was signed')
  return named
}

function nameFiles(folder, n, { type, body }, named) {
  const check = (path, bytes, digest) => {
    const actual = digestOf(join(folder, path))
    demand(actual.bytes === bytes && actual.digest === digest, `${path} is not what event ${n} says`)
    named.add(path)
  }
  for (const value of Object.values(body)) {
    if (typeof value?.$blob !== 'string') continue
    demand(/^[0-9a-f]{64}$/.test(value.$blob), `event ${n} names no digest of a blob`)
    check(`blobs/${value.$blob}`, value.bytes, value.$blob)
  }
  // What stands in a bucket has its digest here, and its bytes there.
  if (type !== 'artifact.stored' || body.store !== undefined) return
  demand(/^[\w-]+$/.test(body.id) && /^[\w-][\w.-]*$/.test(body.name), `event ${n} names no artifact`)
  check(`artifacts/${body.id}/${body.name}`, body.bytes, body.digest)
}

/** The lines of a file without their ends; a last line without an end is refused. */
function* linesOf(file) {
  let rest = Buffer.alloc(0)
  for (const piece of piecesOf(file)) {
    let bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      yield bytes.subarray(0, end)
      bytes = bytes.subarray(end + 1)
    }
    rest = Buffer.from(bytes)
  }
  demand(rest.length === 0, 'the last line of events.jsonl is cut off')
}

function* piecesOf(file) {
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(1 << 20)
    for (let count = readSync(descriptor, buffer); count > 0; count = readSync(descriptor, buffer)) {
      yield buffer.subarray(0, count)
    }
  } finally {
    closeSync(descriptor)
  }
}

function digestOf(file) {
  const hash = createHash('sha256')
  let bytes = 0
  for (const piece of piecesOf(file)) {
    hash.update(piece)
    bytes += piece.length
  }
  return { bytes, digest: hash.digest('hex') }
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex')
}

const words = process.argv.slice(2)
const option = words.indexOf('--key')
const expectedKey = option < 0 ? undefined : words.splice(option, 2)[1]
try {
  const { run, count, head, status, complete, key } = verifyFolder(
    words[0] ?? fileURLToPath(new URL('.', import.meta.url)),
    expectedKey,
  )
  const state = complete ? status : `NOT FINISHED when it was exported (${status})`
  console.log(`ok: run ${run}, ${count} events, ${state}\nhead ${head}\nsigned with key ${key}`)
} catch (error) {
  console.log(`NOT OK: ${error.message}`)
  process.exitCode = 1
}
