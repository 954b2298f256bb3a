/** metier:store_artifact: a file that a mission or a task owns. */
import { Readable } from 'node:stream'
import type { Parts } from '#catalog/built-in'
import { errors, example, graphTool, integer, string } from '#catalog/graph-tools'
import { type ArtifactId, type JsonObject, limits, uuidOf } from '#model'
import { artifactRelationships, type Caller, findOwner, recordArtifact, type TaskGraph } from '#tasks'
import { contentOf, inToolWords, invalid } from './artifact-content.ts'

const from: JsonObject = {
  type: 'object',
  properties: { run: string, call: string, path: string },
  required: ['run'],
  additionalProperties: false,
}

export const storeArtifact = graphTool({
  name: 'store_artifact',
  title: 'Store an artifact',
  effect: 'idempotent',
  objective: 'Store a file: a text, bytes, or the result of an earlier run, and link it to its task.',
  description:
    'The content is stored first, then the node of the artifact. A task that owns it is linked to it; of any other owner the id is kept. It is never overwritten.',
  parameters: [
    {
      name: 'ownerEntityID',
      schema: string,
      text: 'The UUID of the task, mission or other node that owns it. MUST exist.',
    },
    {
      name: 'artifactName',
      schema: string,
      text: 'A file name, 1 to 255 characters; what is not a letter, digit, dot, hyphen or underscore becomes an underscore.',
    },
    { name: 'contentType', schema: string, text: 'Its media type (RFC 6838), such as text/plain.' },
    { name: 'content', schema: string, text: 'The content as text.', ifOmitted: 'one of the next two is given.' },
    { name: 'contentBase64', schema: string, text: 'The content as base64.', ifOmitted: 'one of the others is given.' },
    {
      name: 'from',
      schema: from,
      text: 'A result of the record: the run, and the call and JSON Pointer in it where not all of it is meant.',
      ifOmitted: 'one of the others is given.',
    },
    {
      name: 'size',
      schema: integer,
      text: 'The length in bytes, where it is known: another length is refused.',
      ifOmitted: 'the length is not compared.',
    },
    {
      name: 'relationship',
      schema: { type: 'string', enum: [...artifactRelationships] },
      text: 'How a task that owns it is linked to it.',
      ifOmitted: 'PRODUCES_ARTIFACT.',
    },
  ],
  returns: [
    { name: 'artifactID', schema: string, text: 'The UUID of the artifact.' },
    { name: 'storagePath', schema: string, text: 'artifacts/<UUID>/<cleaned name>.' },
    { name: 'bytes', schema: integer, text: 'Its length.' },
    { name: 'sha256', schema: string, text: 'Its digest, in hexadecimal.' },
  ],
  errors: {
    ...errors.invalid('an id, the name, the media type, the content or the size is malformed or empty'),
    ...errors.missing('a required parameter, or all three of content, contentBase64 and from,'),
    ...errors.notFound('node'),
    ...errors.taken,
    S3_SIZE_LIMIT_EXCEEDED: 'the content is longer than an artifact may be; max has the limit.',
    S3_ACCESS_DENIED: 'the store does not let us write.',
    S3_UPLOAD_FAILED: 'the content could not be stored to its end; try again.',
    S3_CONNECTION_ERROR: 'the store of artifacts cannot be reached; try again.',
    STORE_FULL: 'there is no room left on the disk.',
  },
  preconditions: ['The owner exists.', 'The content has at least one byte.'],
  postconditions: ['The content is stored under storagePath, and get_artifact_info knows it.'],
  example: {
    intention: '"Keep the report with its task."',
    call: { ownerEntityID: example.task, artifactName: 'report.md', contentType: 'text/markdown', content: '# Report' },
    success: {
      artifactID: example.other,
      storagePath: `artifacts/${example.other}/report.md`,
      bytes: 8,
      sha256: '64e2b6f0a3e8d1c97f5b4a2910cd3e86f7a1b2c3d4e5f60718293a4b5c6d7e8f',
    },
    error: {
      given: { ownerEntityID: example.absent },
      code: 'NEO4J_NODE_NOT_FOUND',
      message: `Cannot find the node "${example.absent}": there is none with this id`,
      context: { nodeID: example.absent },
    },
  },
  run: store,
})

async function store(graph: TaskGraph, given: JsonObject, caller: Caller, parts: Parts): Promise<object> {
  const { artifactName, contentType: type, relationship = 'PRODUCES_ARTIFACT' } = given as Record<string, string>
  const bytes = contentOf(given, parts)
  checkSize(bytes.length, given.size)
  const { id: owner } = await findOwner(graph, given.ownerEntityID, caller)
  const id = uuidOf<ArtifactId>(`${caller.run}/${caller.call}/artifact`)
  const { run, signal } = caller
  const input = { id, owner, run, name: nameOf(artifactName), type: type!, bytes: bytes.length, signal }
  try {
    const { path, name, digest } = await parts.artifacts.put({ ...input, content: Readable.from([bytes]) })
    const node = { id, name, contentType: type!, storagePath: path, bytes: bytes.length, sha256: digest }
    const link = relationship as (typeof artifactRelationships)[number]
    return await recordArtifact(graph, { ...node, ownerEntityID: owner, relationship: link }, caller)
  } catch (thrown) {
    throw inToolWords(thrown, { name: 'artifactName', type: 'contentType', bytes: 'size', owner: 'ownerEntityID' })
  }
}

function checkSize(bytes: number, size: unknown): void {
  if (bytes === 0) throw invalid('content', 'is empty')
  if (size !== undefined && size !== bytes)
    throw invalid('size', `differs from the ${bytes} bytes that came`, { value: size })
}

function nameOf(name: string | undefined): string {
  const chars = [...(name ?? '')].length
  if (chars >= 1 && chars <= limits.artifactNameBytesMax) return name!
  throw invalid('artifactName', `has ${chars} characters, and must have 1 to ${limits.artifactNameBytesMax}`)
}
