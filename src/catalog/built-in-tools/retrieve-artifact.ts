/** metier:retrieve_artifact: the content of a stored file, a page at a time. */
import type { Call, Parts } from '#catalog/built-in'
import { errors, example, integer, string, toolFrom } from '#catalog/graph-tools'
import { AppError, type Json, type JsonObject, limits } from '#model'
import { inToolWords, invalid, readPage } from './artifact-content.ts'

const members = {
  artifactID: string,
  storagePath: string,
  contentType: string,
  bytes: integer,
  sha256: string,
  offset: integer,
  next: { type: ['integer', 'null'] },
}
const artifact: JsonObject = {
  type: ['object', 'null'],
  properties: { ...members, content: string, contentBase64: string },
  required: Object.keys(members),
  additionalProperties: false,
}
const { artifactPageBytesDefault: pageDefault, artifactPageBytesMax: pageMax } = limits

export const retrieveArtifact = toolFrom(
  {
    name: 'retrieve_artifact',
    title: 'Read an artifact',
    effect: 'read',
    objective: 'Read a stored file: the content of an artifact, whole or a page at a time.',
    description:
      'A text, by its type or where it has none by its bytes, comes as content, anything else as contentBase64. Every page is read from a content whose digest was checked.',
    parameters: [
      { name: 'storagePath', schema: string, text: 'artifacts/<UUID>/<name>, as store_artifact answered it.' },
      {
        name: 'offset',
        schema: { type: 'integer', minimum: 0 },
        text: 'The byte to begin with; inside a character of a text, the next one.',
        ifOmitted: '0.',
      },
      {
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: pageMax },
        text: `How many bytes at the most, from 1 to ${pageMax}; no character of a text is split.`,
        ifOmitted: `${pageDefault}.`,
      },
    ],
    returns: [
      {
        name: 'artifact',
        schema: artifact,
        text: 'artifactID, storagePath, contentType, bytes, sha256, content or contentBase64, offset, and next: the offset of the next page or null; null where there is no such artifact.',
      },
    ],
    errors: {
      ...errors.invalid('storagePath is no path of an artifact, or offset or limit is off its range'),
      ...errors.missing('storagePath'),
      S3_ACCESS_DENIED: 'the store does not let us read.',
      S3_DOWNLOAD_FAILED: 'the content could not be read to its end, or is not the one that was stored.',
      S3_CONNECTION_ERROR: 'the store of artifacts cannot be reached; try again.',
      TOOL_INTERNAL_ERROR: 'something that nobody expected.',
    },
    preconditions: [],
    postconditions: ['Nothing has changed.'],
    example: {
      intention: '"What does the report say?"',
      call: { storagePath: `artifacts/${example.other}/report.md` },
      success: {
        artifact: {
          artifactID: example.other,
          storagePath: `artifacts/${example.other}/report.md`,
          contentType: 'text/markdown',
          bytes: 8,
          sha256: '64e2b6f0a3e8d1c97f5b4a2910cd3e86f7a1b2c3d4e5f60718293a4b5c6d7e8f',
          content: '# Report',
          offset: 0,
          next: null,
        },
      },
      error: {
        given: { storagePath: '../secret' },
        code: 'INVALID_INPUT_PARAM',
        message: 'Cannot read "storagePath": it must look like artifacts/<id>/<name>',
        context: { param: 'storagePath', details: 'must look like artifacts/<id>/<name>', value: '../secret' },
      },
    },
  },
  retrieve,
)

async function retrieve(given: JsonObject, { artifacts }: Parts, { signal }: Call): Promise<Json> {
  const {
    storagePath,
    offset = 0,
    limit = pageDefault,
  } = given as { storagePath: string; offset?: number; limit?: number }
  if (storagePath === '')
    throw new AppError('MISSING_REQUIRED_PARAM', 'Cannot read an artifact: storagePath is empty', {
      param: 'storagePath',
    })
  if (!storagePath.includes('/'))
    throw invalid('storagePath', 'must look like artifacts/<id>/<name>', { value: storagePath })
  try {
    const found = await artifacts.get(storagePath, signal)
    if (found === null) return { artifact: null }
    const { id, path, type, bytes, digest } = found
    const page = await readPage(found, offset, limit)
    return { artifact: { artifactID: id, storagePath: path, contentType: type, bytes, sha256: digest, ...page } }
  } catch (thrown) {
    // Removed between the look at it and the reading.
    if (thrown instanceof AppError && thrown.code === 'S3_ARTIFACT_NOT_FOUND') return { artifact: null }
    throw inToolWords(thrown, { path: 'storagePath', id: 'storagePath' })
  }
}
