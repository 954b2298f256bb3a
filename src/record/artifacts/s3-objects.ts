/** The objects of a bucket that are artifacts: where each stands, and what its metadata says. */
import type { IncomingHttpHeaders } from 'node:http'
import { type ArtifactId, isUuid, limits } from '#model'
import type { Artifact } from './artifact.ts'
import type { Bucket } from './s3-bucket.ts'
import { S3Fault } from './s3-error.ts'
import { elementsOf, textOf } from './s3-xml.ts'

type Place = { id: ArtifactId; name: string }
type Found = Place & { at: string }

export type Objects = {
  keyOf(place: Place): string
  /** What is known of the artifact; null where there is none. */
  card(place: Place, signal?: AbortSignal): Promise<Artifact | null>
  /** The artifact of this id. */
  find(id: ArtifactId, signal?: AbortSignal): Promise<Place | null>
  /** Newest first; where the server counts seconds, ids of one second say which. */
  all(signal?: AbortSignal): Promise<Found[]>
  folder: string
}

export function openObjects(bucket: Bucket, prefix: string): Objects {
  const folder = `${prefix === '' ? '' : `${prefix}/`}artifacts/`
  const keyOf = ({ id, name }: Place) => `${folder}${id}/${name}`

  async function list(under: string, signal?: AbortSignal): Promise<Found[]> {
    const found: Found[] = []
    let token: string | null = null
    for (let pages = 0; pages < limits.s3ListPagesMax; pages++) {
      const query = { 'list-type': '2', prefix: folder + under, ...(token !== null && { 'continuation-token': token }) }
      const { text } = await bucket.send({ method: 'GET', query, signal })
      found.push(...elementsOf(text, 'Contents').flatMap((element) => placeIn(element, folder)))
      token = textOf(text, 'NextContinuationToken')
      if (token === null) return found
    }
    throw new S3Fault('TooManyKeys', 200, `the bucket has more than ${limits.s3ListPagesMax} pages of artifacts`)
  }

  return {
    folder,
    keyOf,
    async card(place, signal) {
      try {
        const { headers } = await bucket.send({ method: 'HEAD', key: keyOf(place), signal })
        return cardOf(place, headers)
      } catch (error) {
        if (error instanceof S3Fault && error.code === 'NoSuchKey') return null
        throw error
      }
    },
    find: async (id, signal) => (await list(`${id}/`, signal)).sort(byAge)[0] ?? null,
    all: async (signal) => (await list('', signal)).sort(byAge).reverse(),
  }
}

function byAge(a: Found, b: Found): number {
  return a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1
}

/** What others keep in the bucket is passed over. */
function placeIn(element: string, folder: string): Found[] {
  const key = textOf(element, 'Key') ?? ''
  const [id = '', name = '', ...deeper] = key.slice(folder.length).split('/')
  if (!key.startsWith(folder) || !isUuid(id) || name === '' || deeper.length > 0) return []
  return [{ id: id as ArtifactId, name, at: textOf(element, 'LastModified') ?? '' }]
}

/** The headers by which an object says what it is. */
export function metadataOf({ type, owner, run, bytes, digest }: Artifact): Record<string, string> {
  return {
    'content-type': type,
    'x-amz-meta-owner': owner,
    ...(run !== undefined && { 'x-amz-meta-run': run }),
    'x-amz-meta-bytes': String(bytes),
    'x-amz-meta-sha256': digest,
  }
}

function cardOf({ id, name }: Place, headers: IncomingHttpHeaders): Artifact | null {
  const text = (header: string) => String(headers[header] ?? '')
  const [owner, run, digest] = [text('x-amz-meta-owner'), text('x-amz-meta-run'), text('x-amz-meta-sha256')]
  if (!isUuid(owner) || !/^[0-9a-f]{64}$/.test(digest)) return null
  const bytes = Number(text('x-amz-meta-bytes'))
  const whose = { owner, ...(isUuid(run) && { run }) }
  return { id, path: `artifacts/${id}/${name}`, name, type: text('content-type'), ...whose, bytes, digest }
}
