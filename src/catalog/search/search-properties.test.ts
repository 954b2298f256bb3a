/**
 * What holds for every catalogue and every intent: many are made up from a seed, which is printed
 * when one fails.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { buildIndex, type Hit, search } from '#catalog'
import { contentWords, tokenize } from '#catalog/index'
import type { Tool } from '#model'
import { dice } from '#test'

const verbs =
  'read write list create delete update send fetch merge convert resize upload schedule cancel rename'.split(' ')
const nouns =
  'file issue invoice branch pixel ticket query column webhook OAuth2Token S3Bucket URL PDFPage IPv6Address node'.split(
    ' ',
  )
const prose =
  'repository ledger timezone attachment pipeline warehouse customer reminder thumbnail certificate tenant quota'.split(
    ' ',
  )
const servers = ['fs', 'git-hub', 'myServer', 'acme_crm', 'db2', 'calendar']

type Dice = {
  below(count: number): number
  of<Item>(items: readonly Item[]): Item
  some<Item>(items: readonly Item[], count: number): Item[]
}

function diceOf(seed: number): Dice {
  const next = dice(seed)
  const below = (count: number) => Math.floor(next() * count)
  const of = <Item>(items: readonly Item[]) => items[below(items.length)]!
  return { below, of, some: (items, count) => Array.from({ length: count }, () => of(items)) }
}

const lower = (word: string) => word[0]!.toLowerCase() + word.slice(1)
const upper = (word: string) => word[0]!.toUpperCase() + word.slice(1)
const spellings: ((words: string[]) => string)[] = [
  (words) => words.join('_'),
  (words) => words.join('-').toLowerCase(),
  (words) => lower(words.map(upper).join('')),
  (words) => words.map(upper).join(''),
  (words) => words.join('.'),
]

function catalogueOf(pick: Dice): Tool[] {
  const tools = new Map<string, Tool>()
  for (let count = 1 + pick.below(60); count > 0; count--) {
    const server = pick.of(servers)
    const name = pick.of(spellings)([pick.of(verbs), ...pick.some(nouns, 1 + pick.below(3))])
    const description = `${pick.some([...verbs, ...nouns, ...prose], 3 + pick.below(12)).join(' ')}.`
    const properties = Object.fromEntries(pick.some([...nouns, ...prose], pick.below(4)).map((key) => [key, {}]))
    const input = { type: 'object', properties }
    const rest = { annotations: {}, effect: 'read', effectFrom: 'default', digest: `${count}` } as const
    // Twins speak for themselves equally, so that it is seen whether equals keep their order.
    for (const twin of pick.below(4) === 0 ? [`${name}_1`, `${name}_2`] : [name])
      tools.set(`${server}:${twin}`, { id: `${server}:${twin}`, server, name: twin, description, input, ...rest })
  }
  return [...tools.values()]
}

function forMany(check: (tools: Tool[], pick: Dice) => void): void {
  const base = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
  for (let round = 0; round < 60; round++) {
    const pick = diceOf(base + round)
    try {
      check(catalogueOf(pick), pick)
    } catch (error) {
      ;(error as Error).message += ` (SEED=${base + round})`
      throw error
    }
  }
}

const ids = (hits: Hit[]) => hits.map(({ tool }) => tool.id)
const everything = { filter: { minScore: 0 }, limit: 1000 }
const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')

test('a tool that is called by its name comes first, however the name is spelled', () => {
  forMany((tools, pick) => {
    const index = buildIndex(tools)
    const { server, name } = pick.of(tools)
    const words = tokenize(name)
    const forms = [
      ...[name, name.toUpperCase(), name.toLowerCase(), `"${name}"`, ` ${name} `, `${name}()`],
      ...[words.join('_'), words.join('-'), words.join(' '), words.join(''), words.map(upper).join('')],
      ...[`${server}:${name}`, `${server}__${name}`, `${server} ${name}`, `${server}.${name}`, `${server}/${name}`],
      ...[`${server}:${name}`.toUpperCase()],
    ]
    for (const intent of forms) {
      const { results } = search(index, { intent, limit: 10 })
      const named = new Set([bare(intent)])
      const same = tools.filter((tool) => named.has(bare(tool.name)) || named.has(bare(tool.id)))
      const first = results.slice(0, same.length)
      assert.deepEqual(new Set(ids(first)), new Set(same.map(({ id }) => id).slice(0, 10)), intent)
      for (const { score, why } of first) assert(score >= 0.98 && /its name/.test(why), `${intent}: ${score} ${why}`)
    }
  })
})

test('a tool that a sentence calls by its id comes before all that share its words', () => {
  forMany((tools, pick) => {
    const index = buildIndex(tools)
    const { id } = pick.of(tools)
    const { id: other, description } = pick.of(tools)
    const same = tools.filter((tool) => bare(tool.id) === bare(id))
    const { results } = search(index, { intent: `use ${id}, please: ${description}`, limit: 10 })
    const first = new Set(ids(results.slice(0, same.length)))
    assert(first.has(id), `${id} beside ${other}: ${ids(results)}`)
  })
})

function pluralOf(word: string): string {
  if (/^\d+$/.test(word)) return word
  if (word.endsWith('y')) return `${word.slice(0, -1)}ies`
  return /(?:s|ch|sh|x)$/.test(word) ? `${word}es` : `${word}s`
}

test('one slip of the hand in a name, and another number of things, still find it first', () => {
  forMany((tools, pick) => {
    const index = buildIndex(tools)
    const { name, id } = pick.of(tools)
    const at = 1 + pick.below(name.length - 2)
    const slips = [
      name.slice(0, at) + name.slice(at + 1),
      name.slice(0, at) + name[at] + name.slice(at),
      `${name.slice(0, at)}q${name.slice(at + 1)}`,
      name.slice(0, at) + name[at + 1] + name[at] + name.slice(at + 2),
    ]
    for (const intent of slips) {
      const { results } = search(index, { intent, limit: 10 })
      assert(ids(results.slice(0, 3)).includes(id), `${intent} for ${id}: ${ids(results)}`)
    }
    const words = tokenize(name)
    const plural = [...words.slice(0, -1), pluralOf(words.at(-1)!)].join(' ')
    const found = search(index, { intent: plural, limit: 10 }).results
    assert(found[0]!.score >= 0.98, plural)
    assert(ids(found.filter(({ score }) => score >= 0.98)).includes(id), plural)
  })
})

test('scores and order are the same whatever the limit, and each is between 0 and 1', () => {
  forMany((tools, pick) => {
    const index = buildIndex(tools)
    const intent = pick.some([...verbs, ...nouns, ...prose], 1 + pick.below(6)).join(' ')
    for (const filter of [{}, { minScore: 0 }, { server: tools[0]!.server, minScore: 0 }]) {
      const all = search(index, { intent, filter, limit: 1000 }).results
      for (const limit of [1, 2, 3, 5, 10, 50])
        assert.deepEqual(search(index, { intent, filter, limit }).results, all.slice(0, limit), `${intent} ${limit}`)
      for (const [at, { score }] of all.entries())
        assert(score > 0 && score <= 1 && score <= (all[at - 1]?.score ?? 1), `${intent}: ${score}`)
    }
  })
})

/** The words of the intent that stand in an explanation. */
function wordsIn(why: string): Set<string> {
  const parts = why.split('; ').filter((part) => part.includes(': '))
  return new Set(
    parts.flatMap((part) => part.slice(part.indexOf(': ') + 2).split(', ')).map((word) => word.split(' as ')[0]!),
  )
}

test('an explanation names every word that speaks for the first tool, three of those for any other, and no word more', () => {
  forMany((tools, pick) => {
    const index = buildIndex(tools)
    const intent = [...new Set(pick.some([...verbs, ...nouns, ...prose, 'zebra', 'quux'], 2 + pick.below(5)))].join(' ')
    const words = [...new Set(contentWords(intent))]
    const alone = new Map(
      words.map((word) => [word, new Set(ids(search(index, { intent: word, ...everything }).results))]),
    )
    for (const [at, { tool, why: all, brief }] of search(index, { intent, ...everything }).results.entries()) {
      const why = all.split('; against: ')[0]!
      if (brief || /its name/.test(why)) continue
      const speaking = words.filter((word) => alone.get(word)!.has(tool.id))
      const named = [...wordsIn(why)]
      assert.equal(named.length, at === 0 ? speaking.length : Math.min(3, speaking.length), `${intent}: ${why}`)
      for (const word of named) assert(speaking.includes(word), `${intent} → ${tool.id}: ${why}`)
    }
  })
})

const foreign = [
  'приготовь мне борщ со сметаной',
  '帮我订一张明天去巴黎的机票',
  '寿司の作り方を教えて',
  '김치찌개 만드는 법',
  'Wie backe ich einen Apfelkuchen mit Streuseln?',
  'où acheter des croissants près de la gare',
  '¿cómo se baila el tango?',
  'كيف أزرع الطماطم',
  'मुझे चाय बनाना सिखाओ',
  'recieve teh wether forcast plese',
  'xkcd qwzx vbnm',
  '🦄🦄🦄',
]

test('an intent that shares no word with any tool is not answered, in any language and with any slip', () => {
  forMany((tools) => {
    const index = buildIndex(tools)
    for (const intent of foreign) {
      const found = search(index, { intent, limit: 10 })
      assert.deepEqual([found.status, found.results, found.nearest], ['nothing_fits', [], []], intent)
      assert.deepEqual(found.unmatched, [...new Set(contentWords(intent))], intent)
    }
  })
})

test('what does not fit well enough is named as nearest, best first, with the words that nobody has', () => {
  forMany((tools, pick) => {
    const index = buildIndex(tools)
    const strange = Array.from({ length: 12 }, (_, at) => `zz${at}qx`)
    const intent = [pick.of(prose), ...strange].join(' ')
    const { status, nearest, unmatched } = search(index, { intent, limit: 10 })
    const best = ids(search(index, { intent, ...everything }).results)
    for (const word of strange) assert(unmatched.includes(word))
    if (status === 'nothing_fits') assert.deepEqual(nearest, best.slice(0, 3))
    else assert.deepEqual(nearest, [])
  })
})
