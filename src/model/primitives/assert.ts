/**
 * What must be true unless our own code is wrong. Node's own module would take a command that only
 * looks a sixth of the time in which an empty program starts.
 */
export function assert(isTrue: unknown, message = 'an assertion does not hold'): asserts isTrue {
  if (!isTrue) throw new AssertionError(message)
}

class AssertionError extends Error {
  override readonly name = 'AssertionError'
}
