/**
 * Limits of upstream servers: their first start, what is read of a changed configuration, and the
 * boxes around them.
 */
export const serverLimits = {
  /**
   * Of the start of a server whose tools were never listed: its command may have to download it
   * first.
   */
  upstreamFirstStartMsMax: 60_000,
  /**
   * How long a search, or a list at the terminal, waits for the first start of a server, counted
   * from that start.
   */
  firstListMsMax: 30_000,
  /** How often it is reported that a first start is under way. */
  firstStartNoteMs: 5000,
  /** Tools that are named in place of one that is not there. */
  nearToolsMax: 3,
  /**
   * How often a gateway looks whether its configuration changed, and whether an older one is still
   * in use.
   */
  configLookMs: 500,
  /** So long after a change a request may still begin with the configuration from before. */
  configLeaveMs: 10_000,
  /** Of the folder for temporary files in the box of a server. */
  serverBoxTmpBytesMax: 512 * 1024 * 1024,
  /** How long a package may take to be installed into the box of a server. */
  serverInstallMsMax: 110_000,
  /** Scripts whose first line names another program, one after the other. */
  interpretersMax: 4,
  /** Connections that the box of a server refused, as a failed call names them. */
  refusalsToldMax: 3,
  /** A token is renewed so long before it ends, or at half of its life where that is less. */
  oauthRenewBeforeMs: 60_000,
  /** Of one request to an authorization server, and of its answer. */
  oauthRequestMsMax: 15_000,
  oauthAnswerBytesMax: 256 * 1024,
  /** How long a person may take to log in. */
  oauthLoginMsMax: 10 * 60 * 1000,
  /** So many times one request may be sent again with another token. */
  oauthRetriesMax: 3,
  oauthSecretsKeptMax: 16,
} as const
