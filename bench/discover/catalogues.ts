/**
 * Catalogues of 40 to 5,000 tools, made of the public sets, with intents of their own and foreign
 * ones, for what is said about whether a tool fits at all.
 */
import { type Collection, type Item, type Question, take } from './sets.ts'

export type Catalogue = {
  name: string
  families: string[]
  items: Item[]
  own: Question[]
  /** Intents of other families. Some of the tools may serve one of them after all. */
  foreign: (Question & { family: string })[]
}

const ownMax = 100
const foreignCount = 100

/** Seal-Tools and NesTools were made in the same way and have tools in common. */
export const familyOf = ({ family }: Collection) => (family === 'nestools' ? 'seal' : family)

/**
 * What is measured: of each set 40 and 400 of its tools and all of them, and two sets together.
 */
export function measured(sets: readonly Collection[]): Catalogue[] {
  const some = sets.flatMap((set, place) =>
    [40, 400, set.corpus.length]
      .filter((size) => size <= set.corpus.length)
      .map((size) => catalogueOf(sets, set, { size, place, round: 0 })),
  )
  const pair = sets.filter(({ name }) => name === 'seal_dev' || name === 'bfcl_live_multiple')
  const families = pair.map(familyOf)
  return [
    ...some,
    {
      name: pair.map(({ name }) => name).join(' + '),
      families,
      items: pair.flatMap(({ corpus }) => corpus),
      own: pair.flatMap(({ questions }) => take(questions, ownMax / 2)),
      foreign: foreignTo(sets, families, 3),
    },
  ]
}

/** Others of the same sets, over which the verdict is fitted. */
export function fitted(sets: readonly Collection[]): Catalogue[] {
  return [1, 2].flatMap((round) =>
    sets.flatMap((set, place) =>
      [40, 130, 400, 1300, set.corpus.length]
        .filter((size) => size <= set.corpus.length)
        .map((size) => catalogueOf(sets, set, { size, place, round })),
    ),
  )
}

type Draw = { size: number; place: number; round: number }

function catalogueOf(sets: readonly Collection[], set: Collection, { size, place, round }: Draw): Catalogue {
  const short = set.questions.filter(({ gold }) => gold.length <= 5)
  const asked = take(short, size === 40 ? 25 : ownMax, place + 31 * round)
  const wanted = new Set(asked.flatMap(({ gold }) => gold))
  const rest = take(set.corpus, set.corpus.length, round).filter(({ id }) => !wanted.has(id))
  const items = [...set.corpus.filter(({ id }) => wanted.has(id)), ...rest].slice(0, size)
  const ids = new Set(items.map(({ id }) => id))
  const own = set.questions.filter(({ gold }) => gold.every((id) => ids.has(id)))
  return {
    name: `${set.name} ${size}`,
    families: [familyOf(set)],
    items,
    own: take(own, ownMax, 1 + 17 * round),
    foreign: foreignTo(sets, [familyOf(set)], place + 13 * round),
  }
}

function foreignTo(sets: readonly Collection[], families: readonly string[], round: number) {
  const others = sets.filter((set) => !families.includes(familyOf(set)))
  return others.flatMap((set) =>
    take(set.questions, Math.ceil(foreignCount / others.length), round).map((question) => ({
      ...question,
      family: familyOf(set),
    })),
  )
}
