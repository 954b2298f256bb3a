/**
 * The index on disk: the same answers as from one that was built, and none from a file that is not
 * for these tools.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openIndexer, search } from '#catalog'
import { limits, type Tool } from '#model'
import { temporaryFolder } from '#test'
import { indexKey, readIndex, writeIndex } from './index-file.ts'
import { buildIndex } from './indexer.ts'

const verbs = ['create', 'list', 'delete', 'update', 'send']
const nouns = ['invoice', 'ticket', 'customer', 'reports', 'branch']

function toolsOf(count: number, says = ''): Tool[] {
  return Array.from({ length: count }, (_, at) => {
    const name = `${verbs[at % 5]}_${nouns[Math.floor(at / 5) % 5]}_${at}`
    const description = `${verbs[at % 5]} the ${nouns[Math.floor(at / 5) % 5]} of area ${at % 97}${says}`
    const about = { annotations: {}, effect: 'read', effectFrom: 'default', digest: `${at}${says}` } as const
    return { id: `big:${name}`, server: 'big', name, description, input: { type: 'object' }, ...about }
  })
}

const intents = ['create an invoice', 'big:send_branch_24', 'delte_ticket_7', 'update customers in area 12', 'zeppelin']

test('readIndex() answers as the index that was written, and goes on from there', async (t) => {
  const folder = temporaryFolder(t)
  const tools = toolsOf(limits.indexKeptToolsMin)
  const lists = new Map([['big', tools]])
  const built = await openIndexer(folder).current(() => lists)
  const file = join(folder, readdirSync(folder)[0]!)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  utimesSync(file, 1, 1)
  const later = openIndexer(folder)
  const read = await later.current(() => lists)
  assert.equal(statSync(file).mtimeMs, 1000, 'it was read, not built and written again')
  const found = (index: typeof read, intent: string) => search(index, { intent, limit: 10 })
  for (const intent of intents) assert.deepEqual(found(read, intent), found(built, intent), intent)
  const more = [...tools, { ...tools[0]!, id: 'big:zeppelin', name: 'zeppelin', digest: 'z' }]
  later.changed()
  const grown = await later.current(() => new Map([['big', more]]))
  for (const intent of intents) assert.deepEqual(found(grown, intent), found(buildIndex(more), intent), intent)
})

test('readIndex() takes no file that is damaged, of other tools, or of another order', (t) => {
  const folder = temporaryFolder(t)
  const lists = new Map([['big', toolsOf(50)]])
  const key = indexKey(lists)
  assert.equal(readIndex(folder, key, lists), null, 'there is none')
  writeIndex(folder, key, buildIndex(lists.get('big')!))
  assert.notEqual(readIndex(folder, key, lists), null)
  const others = [toolsOf(49), toolsOf(50, ' again'), toolsOf(50).reverse()]
  others.push(toolsOf(50).map((tool) => ({ ...tool, observed: { type: 'object' } })))
  for (const tools of others) assert.notEqual(indexKey(new Map([['big', tools]])), key)
  assert.equal(readIndex(folder, indexKey(new Map([['big', others[1]!]])), lists), null)
  const file = join(folder, readdirSync(folder)[0]!)
  const whole = readFileSync(file)
  for (const at of [0, 20, whole.length >> 1, whole.length - 1]) {
    const damaged = Buffer.from(whole)
    damaged[at]! ^= 1
    writeFileSync(file, damaged)
    assert.equal(readIndex(folder, key, lists), null, `byte ${at}`)
  }
  writeFileSync(file, whole.subarray(0, whole.length - 10))
  assert.equal(readIndex(folder, key, lists), null, 'cut off')
  rmSync(file)
})

test('openIndexer() builds where the kept index is damaged, and replaces it', async (t) => {
  const folder = temporaryFolder(t)
  const lists = new Map([['big', toolsOf(limits.indexKeptToolsMin)]])
  await openIndexer(folder).current(() => lists)
  const file = join(folder, readdirSync(folder)[0]!)
  const whole = readFileSync(file)
  writeFileSync(file, 'nonsense')
  const index = await openIndexer(folder).current(() => lists)
  assert.equal(index.tools, limits.indexKeptToolsMin)
  assert(readFileSync(file).equals(whole))
})
