/**
 * Where a call stands: `3.1` is the first call of the program that runs as call 3; the run's own
 * program has no name.
 */
type Place = { program: string; number: number }

export function parseCallId(id: string): Place {
  const dot = id.lastIndexOf('.')
  return { program: dot < 0 ? '' : id.slice(0, dot), number: Number(id.slice(dot + 1)) }
}

export function formatCallId({ program, number }: Place): string {
  return program === '' ? String(number) : `${program}.${number}`
}
