/** Limits of artifacts, in a folder and in S3. */
export const artifactLimits = {
  /** Of one artifact, where the configuration names no other limit. */
  artifactBytesMax: 20 * 1024 * 1024,
  artifactNameBytesMax: 255,
  /** One without a node is removed when it is older, and so is what was stored in part. */
  artifactUnclaimedMsMax: 24 * 60 * 60 * 1000,
  /** The most that a configuration may allow. */
  artifactBytesCeiling: 64 * 1024 * 1024 * 1024,
  /**
   * An upload waits for its digest in memory where it is small, or while all that wait there are
   * together below the second; others in a file.
   */
  s3MemoryBytesMax: 256 * 1024,
  s3MemoryTogetherBytesMax: 24 * 1024 * 1024,
  /** Of an upload in memory while it is sent. */
  s3PieceBytes: 512 * 1024,
  /** A larger artifact goes to S3 in parts; S3 takes at most 10,000 of at least 5 MiB each. */
  s3SinglePutBytesMax: 20 * 1024 * 1024,
  s3PartBytes: 16 * 1024 * 1024,
  /** How long S3 may be silent, and how slow a transfer may be beside it. */
  s3SilentMsMax: 30_000,
  s3BytesPerMsMin: 64,
  /** Of one answer that is no artifact: a page of keys, an error. */
  s3AnswerBytesMax: 4 * 1024 * 1024,
  /** How often a request is sent that fails for a reason that may pass, and the first pause. */
  s3TriesMax: 3,
  s3RetryMs: 100,
  /** Of a place that hands out keys, and of one that may not be there at all. */
  s3KeysMsMax: 10_000,
  s3MetadataMsMax: 1000,
  /** Keys that end sooner are asked for again. */
  s3KeysRenewMs: 5 * 60 * 1000,
  s3ConnectionsMax: 64,
  /** A page of keys has at most a thousand. */
  s3ListPagesMax: 1000,
  /** How many objects of a list are asked for their metadata at a time. */
  s3HeadsMax: 16,
  /** Uploads in parts that could not be taken back, which is tried again before the next one. */
  s3AbandonedMax: 1000,
}
