/**
 * The digest of a request's parameters without what a retry adds to them (`_meta`, input responses,
 * request state): a request that is sent again is recognised by it.
 */
import { type JsonObject, sha256, toText } from '#model'

export function requestDigest({ _meta, inputResponses: _, requestState: __, ...params }: JsonObject): string {
  return sha256(toText(params))
}
