/** metier:get_artifact_info: what the graph knows of a stored file. */

import { errors, example, graphTool, string, strings } from '#catalog/graph-tools'
import type { JsonObject } from '#model'
import { getArtifact } from '#tasks'

const members = {
  ID: string,
  Type: string,
  StoragePath: string,
  FileName: string,
  CreatedAt: string,
  UpdatedAt: string,
  Tags: strings,
}
const artifact: JsonObject = {
  type: ['object', 'null'],
  properties: members,
  required: Object.keys(members),
  additionalProperties: false,
}

export const getArtifactInfo = graphTool({
  name: 'get_artifact_info',
  title: 'Look at an artifact',
  effect: 'read',
  objective: 'Get what is known of a stored artifact: its type, storage path, file name, times and tags.',
  description: 'The content is read with retrieve_artifact, by the storage path.',
  parameters: [{ name: 'artifactID', schema: string, text: 'The UUID of the artifact.' }],
  returns: [
    {
      name: 'artifact',
      schema: artifact,
      text: 'Type is the content type; null where there is none, as for what a script handed out: read that by its storage path.',
    },
  ],
  errors: { ...errors.invalid('artifactID is no UUID'), ...errors.missing('artifactID') },
  preconditions: [],
  postconditions: ['Nothing has changed.'],
  example: {
    intention: '"Where is the report of that task?"',
    call: { artifactID: example.other },
    success: {
      artifact: {
        ID: example.other,
        Type: 'text/markdown',
        StoragePath: `artifacts/${example.other}/report.md`,
        FileName: 'report.md',
        CreatedAt: example.at,
        UpdatedAt: example.at,
        Tags: [],
      },
    },
    error: {
      given: { artifactID: 'report.md' },
      code: 'INVALID_INPUT_PARAM',
      message: 'Cannot read "artifactID": must be the UUID of an artifact',
      context: { param: 'artifactID', details: 'must be the UUID of an artifact', value: 'report.md' },
    },
  },
  run: getArtifact,
})
