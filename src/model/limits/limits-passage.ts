/**
 * The bounds of what is passed through to one server whole, and of the questions that servers ask.
 */
export const passageLimits = {
  /** Changes of a list that come within this time are told once. */
  listChangedMs: 50,
  /**
   * Questions of servers: how often in one request, how long each waits for its answer, how many
   * wait at a time.
   */
  questionRoundsMax: 16,
  questionsAtOnceMax: 32,
  questionAnswerMsMax: 10 * 60 * 1000,
  /** How long the first of several questions waits for the others. */
  questionsTogetherMs: 20,
  exchangesMax: 256,
  /** Of a request that is passed on whole: a human may be asked in the middle of it. */
  passedRequestMsMax: 10 * 60 * 1000,
  /** Conversations with one server that are held for clients, and subscriptions in each. */
  passagesMax: 8,
  /**
   * Of one server for all clients: an idle one gives way, and is opened again when it is needed.
   */
  passagesOpenMax: 64,
  passageSubscriptionsMax: 256,
} as const
