/**
 * What it costs to store in S3 through the store of artifacts: against the bare PUT of the same
 * bytes to the same server, side by side in one run, and in memory while several are stored at
 * once.
 */
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { newId, type S3Config } from '#model'
import { type Artifacts, openArtifacts } from '#record'
import { openBucket } from '#record/artifacts'
import { minioBucket, whyNoMinio } from '#test/services'
import { atMost, type Bar, median, ms, preferUs, print, time } from './record/bars.ts'

const size = 20_000_000
const pairs = 15
const together = 8
const mega = 1024 * 1024

async function main(): Promise<void> {
  const why = whyNoMinio()
  if (why !== false) {
    console.error(`not measured: ${why}`)
    return
  }
  preferUs()
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  const s3 = { ...(await minioBucket('bench')), prefix: newId() }
  const artifacts = openArtifacts({ folder, s3 })
  // The memory first: a process that has worked has room already.
  const bars = [await memory(artifacts), await againstBarePut(artifacts, s3)]
  rmSync(folder, { recursive: true })
  await clean(artifacts)
  print(bars)
  if (bars.some(({ ok }) => !ok)) process.exitCode = 1
}

/** Bytes that are in memory, signed as S3 wants it (which takes their digest) and sent. */
async function againstBarePut(artifacts: Artifacts, s3: S3Config): Promise<Bar> {
  const bytes = randomBytes(size)
  const bucket = await openBucket(s3)
  const digests: number[] = []
  const bare = async () => {
    const key = `${s3.prefix}/bare/${newId()}`
    const took = await time(async () => {
      let digest = ''
      digests.push(await time(() => (digest = createHash('sha256').update(bytes).digest('hex'))))
      return bucket.send({ method: 'PUT', key, body: { bytes: size, digest, open: () => piecesOf(bytes) } })
    })
    await bucket.send({ method: 'DELETE', key })
    return took
  }
  const ours = async () => {
    let path = ''
    const took = await time(async () => {
      path = (await put(artifacts, () => piecesOf(bytes))).path
    })
    await artifacts.remove(path)
    return took
  }
  const took: [number, number][] = []
  for (let i = -2; i < pairs; i++) {
    const pair: [number, number] =
      i % 2 === 0 ? [await ours(), await bare()] : ([await bare(), await ours()].reverse() as [number, number])
    if (i >= 0) took.push(pair)
  }
  const middle = (which: 0 | 1) => median(took.map((pair) => pair[which]))
  const detail = `${ms(middle(0))} against ${ms(middle(1))}, of which ${ms(median(digests))} for its digest; ${pairs} pairs`
  const ratios = took.map(([a, b]) => a / b)
  return atMost(1.3, 'a 20 MB artifact through S3 / a bare PUT', ratios, detail)
}

/** Sources that hold nothing: what is held is ours. */
async function memory(artifacts: Artifacts): Promise<Bar> {
  const grown: number[] = []
  for (let round = 0; round < 3; round++) {
    const before = process.memoryUsage.rss()
    let most = before
    let isOver = false
    const watching = (async () => {
      while (!isOver) {
        most = Math.max(most, process.memoryUsage.rss())
        await sleep(2)
      }
    })()
    await Promise.all(Array.from({ length: together }, () => put(artifacts, made)))
    isOver = true
    await watching
    grown.push((most - before) / mega)
  }
  const worst = Math.max(...grown)
  return { ...atMost(64, `MB of memory more while ${together} are stored at once`, grown, '3 rounds'), ok: worst <= 64 }
}

async function put(artifacts: Artifacts, open: () => AsyncIterable<Uint8Array>) {
  const what = { owner: newId(), name: 'bench.bin', type: 'application/octet-stream', bytes: size }
  return artifacts.put({ ...what, content: open() })
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += 65_536) yield bytes.subarray(from, from + 65_536)
}

const piece = randomBytes(65_536)

async function* made(): AsyncGenerator<Buffer> {
  for (let from = 0; from < size; from += piece.length) yield piece.subarray(0, size - from)
}

async function clean(artifacts: Artifacts): Promise<void> {
  for (const { path } of await artifacts.list()) await artifacts.remove(path)
}

await main()
