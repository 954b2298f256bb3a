/** What the server of small values answers, for it and for those who know what it will say. */
export const smallTools = ['t0', 't1', 't2', 't3']

export type SmallAnswer = { id: number; flag: boolean; name: string; items: { v: number }[] }

export function smallAnswer(tool: string, args: unknown): SmallAnswer {
  const roll = rolls(tool, args)
  const items = Array.from({ length: 2 + roll(2) }, () => ({ v: roll(3) }))
  return { id: roll(3), flag: roll(2) === 1, name: ['a', 'b'][roll(2)]!, items }
}

export function smallDelay(tool: string, args: unknown): number {
  return rolls(`delay ${tool}`, args)(3)
}

function rolls(tool: string, args: unknown): (sides: number) => number {
  let state = 2166136261
  for (const sign of `${tool} ${JSON.stringify(args)}`) state = Math.imul(state ^ sign.codePointAt(0)!, 16777619)
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}
