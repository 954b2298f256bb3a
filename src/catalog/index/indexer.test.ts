/**
 * Tests of the index over time: what changed is found as it is now, as if all had been read anew,
 * and others have their turn meanwhile.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { buildIndex, openIndexer, search } from '#catalog'
import type { Tool } from '#model'
import { dice } from '#test'

const words =
  'read write file folder order refund ship customer weather city time zone commit branch merge invoice'.split(' ')

function randomTool(server: string, at: number, roll: () => number): Tool {
  const pick = () => words[Math.floor(roll() * words.length)]!
  const name = `${pick()}_${pick()}_${at}`
  const description = Array.from({ length: 3 + Math.floor(roll() * 12) }, pick).join(' ')
  const input = { type: 'object', properties: { [pick()]: { description: `${pick()} ${pick()}` } } }
  const digest = `${name} ${description} ${JSON.stringify(input)}`
  return {
    id: `${server}:${name}`,
    server,
    name,
    description,
    input,
    annotations: {},
    effect: 'read',
    effectFrom: 'default',
    digest,
  }
}

test('current() finds after any change what an index made anew finds, with the same scores', async () => {
  for (let seed = 1; seed <= 5; seed++) {
    const roll = dice(seed)
    const lists = new Map(
      ['a', 'b', 'c'].map((server) => [server, Array.from({ length: 30 }, (_, at) => randomTool(server, at, roll))]),
    )
    const indexer = openIndexer()
    for (let round = 0; round < 12; round++) {
      const index = await indexer.current(() => lists)
      const anew = buildIndex([...lists.values()].flat())
      for (let question = 0; question < 10; question++) {
        const intent = Array.from({ length: 4 }, () => words[Math.floor(roll() * words.length)]).join(' ')
        const query = { intent, filter: { minScore: 0 }, limit: 20 }
        assert.deepEqual(search(index, query), search(anew, query), `seed ${seed}, round ${round}`)
      }
      change(lists, roll)
      indexer.changed()
    }
  }
})

/**
 * One tool says something else, one goes, one comes, two change places, or a server is gone;
 * sometimes only the objects are new.
 */
function change(lists: Map<string, Tool[]>, roll: () => number): void {
  const [server, tools] = [...lists][Math.floor(roll() * lists.size)]!
  if (tools.length === 0) tools.push(randomTool(server, 50, roll))
  const at = Math.floor(roll() * tools.length)
  const kind = Math.floor(roll() * 6)
  if (kind === 0) tools[at] = { ...tools[at]!, observed: { type: 'object', properties: { refund: {} } } }
  else if (kind === 1) tools.splice(at, 1)
  else if (kind === 2) tools.push(randomTool(server, 100 + tools.length, roll))
  else if (kind === 3) tools.push(...tools.splice(at, 1))
  else if (kind === 4) lists.set(server, structuredClone(tools))
  else lists.set(server, [randomTool(server, 7, roll)])
}

test('current() knows no word any more that only a tool had which is gone', async () => {
  const roll = dice(3)
  const zeppelin = { ...randomTool('a', 1, roll), name: 'zeppelin', id: 'a:zeppelin' }
  const lists = new Map([['a', [randomTool('a', 0, roll), zeppelin]]])
  const indexer = openIndexer()
  const unmatched = async () => search(await indexer.current(() => lists), { intent: 'zeppelins', limit: 1 }).unmatched
  assert.deepEqual(await unmatched(), [])
  lists.get('a')!.pop()
  indexer.changed()
  assert.deepEqual(await unmatched(), ['zeppelins'])
})

test('current() lets others have their turn while it reads many tools, and sees what changed meanwhile', async () => {
  const roll = dice(7)
  const tools = Array.from({ length: 4000 }, (_, at) => randomTool('a', at, roll))
  const indexer = openIndexer()
  let turns = 0
  const count = () => {
    turns++
    turn = setImmediate(count)
  }
  let turn = setImmediate(count)
  const first = indexer.current(() => new Map([['a', tools]]))
  await new Promise((resolve) => setImmediate(resolve))
  const late = { ...randomTool('a', 9999, roll), name: 'zeppelin', id: 'a:zeppelin', digest: 'z' }
  tools.push(late)
  indexer.changed()
  const second = indexer.current(() => new Map([['a', tools]]))
  assert.equal((await first).tools, 4000)
  const found = search(await second, { intent: 'zeppelin', limit: 1 })
  clearImmediate(turn)
  assert.equal(found.results[0]?.tool.id, 'a:zeppelin')
  assert(turns > 3, `${turns} turns`)
})
