/**
 * Tests of discover's search: names first, the right tool for an intent, scores that mean
 * something, and abstention.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { buildIndex, type Found, type Query, search } from '#catalog'
import { contentWords, isOneEdit, stem, synonymGroups, tokenize } from '#catalog/index'
import type { Effect, Tool } from '#model'

function tool(id: string, description: string, parameters: Record<string, string> = {}, effect: Effect = 'read'): Tool {
  const [server = '', name = ''] = id.split(':')
  const properties = Object.fromEntries(Object.entries(parameters).map(([key, text]) => [key, { description: text }]))
  const input = { type: 'object', properties }
  return { id, server, name, description, input, annotations: {}, effect, effectFrom: 'default', digest: id }
}

const tools = [
  tool('fx:read', 'Read the value that is stored under a key.', { key: '' }),
  tool('fx:put', 'Store a value under a key; what was there before is replaced.', { key: '', value: '' }, 'idempotent'),
  tool('fx:add', 'Add a number to a counter and say the new total.', { key: '', by: '' }, 'unsafe'),
  tool('fx:pay', 'Pay an amount to an account.', { account: '', amount: '' }, 'keyed:idempotency_key'),
  tool('fx:wait', 'Wait for a number of milliseconds.', { ms: '' }),
  tool('fx:big', 'Give back a text of so many bytes.', { bytes: '' }),
  tool('fs:read_text_file', 'Read a file from the disk.', {
    path: 'Where the file lies',
    head: 'Only the first lines',
  }),
  tool('fs:writeFile', 'Write a file to the disk.', { path: 'Where the file lies', content: '' }, 'idempotent'),
  tool('git:git_commit', 'Record changes to the repository.', { message: 'What changed and why' }, 'unsafe'),
  tool('time:current_time', 'Tell the current time in a timezone.', { timezone: 'Such as Europe/Paris' }),
]
const index = buildIndex(tools)

function find(intent: string, options: Partial<Query> = {}): Found {
  return search(index, { intent, limit: 10, ...options })
}

function ids(found: Found): string[] {
  return found.results.map(({ tool }) => tool.id)
}

test('search() puts a tool first that is called by its name, however that is spelled', () => {
  const table: [string, string, number][] = [
    ['fx:big', 'fx:big', 1],
    ['big', 'fx:big', 1],
    ['fx big', 'fx:big', 1],
    ['BIG', 'fx:big', 1],
    ['fs:read_text_file', 'fs:read_text_file', 1],
    ['readTextFile', 'fs:read_text_file', 1],
    ['read-text-file', 'fs:read_text_file', 1],
    ['write_file', 'fs:writeFile', 1],
    ['reading the text files', 'fs:read_text_file', 0.99],
    ['file text read', 'fs:read_text_file', 0.99],
    ['git_comit', 'git:git_commit', 0.98],
    ['curent_time', 'time:current_time', 0.98],
    ['mcp.fs.writeFile', 'fs:writeFile', 1],
    ['mcp__fs__read_text_file', 'fs:read_text_file', 1],
    ['mcp["git"]["git_commit"]', 'git:git_commit', 1],
    ['use git:git_commit to pay an amount of bytes to an account', 'git:git_commit', 0.995],
    ['read the value stored under a key, then call `mcp__time__current_time`.', 'time:current_time', 0.995],
    ['store the value of the key with writeFile, please', 'fs:writeFile', 0.995],
  ]
  for (const [intent, id, score] of table) {
    const [first] = find(intent).results
    assert.deepEqual([first?.tool.id, first?.score], [id, score], intent)
  }
})

test('search() puts the tool first that is spelled so, and next the one with the same letters', () => {
  const twins = [tool('aws:convert-s3bucket', 'Convert.'), tool('aws:ConvertS3Bucket', 'Convert.')]
  const other = tool('aws:list_S3_bucket', 'Convert an S3 bucket; list an S3 bucket.')
  for (const [intent, ...order] of [
    ['ConvertS3Bucket', 'aws:ConvertS3Bucket', 'aws:convert-s3bucket'],
    ['convert-s3bucket', 'aws:convert-s3bucket', 'aws:ConvertS3Bucket'],
  ] as [string, string, string][]) {
    const { results } = search(buildIndex([other, ...twins]), { intent, limit: 10 })
    const first = results.slice(0, 2).map(({ tool, score }) => [tool.id, score])
    assert.deepEqual(first, [
      [order[0], 1],
      [order[1], 0.99],
    ])
  }
})

test('search() puts every tool first that an intent calls by its name', () => {
  const { results } = find('add fx:add and (fs:read_text_file) to the account; never_heard of the_account')
  assert.deepEqual(
    results.slice(0, 2).map(({ tool, score }) => [tool.id, score]),
    [
      ['fx:add', 0.995],
      ['fs:read_text_file', 0.995],
    ],
  )
  assert(results.slice(2).every(({ score }) => score < 0.9))
})

test('search() finds the tool for an intent in words', () => {
  const table: [string, string][] = [
    ['add a number to a counter', 'fx:add'],
    ['store something under a key', 'fx:put'],
    ['read what value is stored', 'fx:read'],
    ['transfer an amount of money to an account', 'fx:pay'],
    ['save content to disk as a file', 'fs:writeFile'],
    ['commit my changes', 'git:git_commit'],
    ["what's the time in Tokyo?", 'time:current_time'],
    ['pause for some milliseconds', 'fx:wait'],
  ]
  for (const [intent, id] of table) assert.equal(ids(find(intent))[0], id, intent)
})

test('search() abstains when nothing fits, and says which words matched nothing and what came nearest', () => {
  const whales = find('translate Sanskrit poetry into whale song')
  assert.equal(whales.status, 'nothing_fits')
  assert.deepEqual(whales.results, [])
  assert.deepEqual(whales.unmatched, ['translate', 'sanskrit', 'poetry', 'whale', 'song'])
  assert.deepEqual(whales.nearest, [])
  const near = find(
    'book a cheap direct flight to Oslo next friday with an extra amount of legroom, a vegetarian meal, a window seat, two heavy suitcases, lounge vouchers, travel insurance, airport parking, and chauffeured limousine transfers',
  )
  assert.equal(near.status, 'nothing_fits')
  assert.deepEqual(near.nearest, ['fx:pay'])
  assert.deepEqual(ids(near), ['fx:pay'], 'the ranking is shown all the same')
  for (const intent of ['', '   ', 'the of and', '???']) assert.equal(find(intent).status, 'nothing_fits', intent)
})

test('search() explains each score by the words that were found and where', () => {
  const { results, unmatched } = find('add a purple number to the counter')
  assert.equal(results[0]?.why, 'name: add; description: number, counter')
  assert.deepEqual(unmatched, ['purple'])
  assert.match(find('fx:big').results[0]!.why, /^this is its name/)
  assert.match(find('git_comit').results[0]!.why, /^this is nearly its name/)
  assert.match(find('time in a timezone like Europe').results[0]!.why, /parameters: .*europe/)
})

test('search() finds what is called by another word for it, and says by which', () => {
  const shops = [tool('a:movies', 'List the movies that are on.'), tool('a:plays', 'List the plays that are on.')]
  const { results, unmatched } = search(buildIndex(shops), {
    intent: 'which film is on',
    filter: { minScore: 0 },
    limit: 2,
  })
  assert.deepEqual(
    results.map(({ tool, why }) => [tool.id, why.split('; against')[0]]),
    [['a:movies', 'name: film as movies']],
  )
  assert.deepEqual(unmatched, [])
  const stems = synonymGroups.map((words) => new Set(words.map(stem)))
  assert.equal(
    new Set(stems.flatMap((group) => [...group])).size,
    stems.reduce((sum, { size }) => sum + size, 0),
    'each in one group',
  )
})

test('search() gives the same scores between 0 and 1 whatever the limit', () => {
  const all = find('read or write a file on disk')
  assert(all.results.length >= 2)
  for (const limit of [1, 2])
    assert.deepEqual(find('read or write a file on disk', { limit }).results, all.results.slice(0, limit))
  for (const { score } of all.results) assert(score > 0 && score < 1)
})

test('search() keeps to the filter: server, effect class, least score', () => {
  const intent = 'read a value or a file'
  assert.deepEqual(
    new Set(ids(find(intent, { filter: { server: 'fs', minScore: 0 } }))),
    new Set(['fs:read_text_file', 'fs:writeFile']),
  )
  assert.deepEqual(ids(find('pay an amount', { filter: { effect: 'keyed' } })), ['fx:pay'])
  assert.deepEqual(ids(find('pay an amount', { filter: { effect: 'unsafe' } })), [])
  assert.deepEqual(ids(find('pay an amount', { filter: { minScore: 0.999 } })), [])
  assert.deepEqual(find(intent, { filter: { minScore: 0 } }), find(intent), 'nothing is cut off unless it is asked for')
})

test('search() shows the whole ranking, and of what stands below the cut only what it is; of the first three never', () => {
  const many = Array.from({ length: 30 }, (_, at) => tool(`x:n${at}`, `Do the ${'thing '.repeat(at)}with a lamp.`))
  const lamp = [tool('x:light_lamp', 'Light the lamp.'), ...many]
  const { results, status } = search(buildIndex(lamp), { intent: 'light the lamp in the hall', limit: 50 })
  assert.deepEqual([status, results.length, results[0]?.tool.id], ['found', 31, 'x:light_lamp'])
  assert.deepEqual(
    results.slice(0, 3).map(({ brief }) => brief),
    [false, false, false],
  )
  assert(results.slice(3).every(({ brief, why }) => brief && why === ''))
})

test('search() shows what may fit as unsure, and says what speaks against the first', () => {
  const { status, results, nearest } = find('what amount of snow fell on the roof of the barn in "New York" in 2019')
  assert.deepEqual([status, results[0]?.tool.id, nearest], ['unsure', 'fx:pay', []])
  assert.equal(results[0]!.why, 'description: amount; against: nothing about snow, fell, roof, barn')
})

test('search() puts a tool that calls itself deprecated behind its successor, unless it is called by its name', () => {
  const tools = [
    tool('fs:read_file', 'Read a file as text. DEPRECATED: Use read_text_file instead.'),
    tool('fs:read_text_file', 'Read the complete contents of a file from the disk, as text.'),
    tool('fs:list', 'List deprecated packages of a file.'),
    tool('fs:find', 'This tool is deprecated: find things.'),
    tool('fs:seek', 'Find a thing that was lost somewhere.'),
  ]
  const found = (intent: string) => search(buildIndex(tools), { intent, limit: 5 }).results.map(({ tool }) => tool.id)
  assert.deepEqual(found('read a file').slice(0, 2), ['fs:read_text_file', 'fs:read_file'])
  assert.deepEqual(found('read file').slice(0, 2), ['fs:read_text_file', 'fs:read_file'])
  assert.deepEqual(found('find what was lost').slice(0, 2), ['fs:seek', 'fs:find'])
  for (const intent of ['fs:read_file', 'read_file', 'open it with mcp__fs__read_file, please'])
    assert.equal(found(intent)[0], 'fs:read_file', intent)
  assert.equal(found('list packages')[0], 'fs:list')
  assert.equal(found('list')[0], 'fs:list', 'it speaks of others')
})

test('search() finds what people ask for in other words than the tool has, and holds no value against it', () => {
  const tools = [
    tool('fs:list_directory', 'Get a listing of all entries in a directory.', { path: '' }),
    tool('fs:write_file', 'Create or overwrite a file.', { path: '', content: '' }),
    tool('sh:run_command', 'Run a command on this machine.', { command: '' }),
    tool('time:current_time', 'Get the time in a timezone.', { timezone: '' }),
    tool('git:git_reset', 'Reset the current HEAD to a state.', { mode: '' }),
    tool('git:git_log', 'List the commits.', {}),
  ]
  const table: [string, string][] = [
    ['list the files in the src folder', 'fs:list_directory'],
    ['what time is it in Tokyo', 'time:current_time'],
    ['run the tests with npm test', 'sh:run_command'],
    ['undo it', 'git:git_reset'],
    ['the history of the project', 'git:git_log'],
  ]
  for (const [intent, id] of table) {
    const found = search(buildIndex(tools), { intent, limit: 3 })
    assert.deepEqual([found.results[0]?.tool.id, found.status === 'nothing_fits'], [id, false], intent)
  }
})

test('search() in an empty catalogue abstains', () => {
  const found = search(buildIndex([]), { intent: 'read', limit: 5 })
  assert.deepEqual(found, { status: 'nothing_fits', results: [], unmatched: ['read'], nearest: [] })
})

test('split() takes names apart', () => {
  assert.deepEqual(tokenize('readTextFile'), ['read', 'text', 'file'])
  assert.deepEqual(tokenize('parseHTTPServer_v2-final.Name'), ['parse', 'http', 'server', 'v2', 'final', 'name'])
  assert.deepEqual(tokenize('Café Ünïcode'), ['cafe', 'unicode'])
  assert.deepEqual(tokenize('デ\u30fcタ Дай 파일 पढ़ें'.normalize('NFD')), [
    'データ',
    'даи',
    '파일',
    'पढ़ें'.normalize('NFC'),
  ])
})

test('split() finds the words of scripts that put nothing between them', () => {
  assert.deepEqual(tokenize('订明天去巴黎的机票'), ['订', '明天', '去', '巴黎', '的', '机票'])
  assert.deepEqual(tokenize('ファイルを読む'), ['ファイル', 'を', '読む'])
  assert.deepEqual(tokenize('อ่านไฟล์ PDF'), ['อ่าน', 'ไฟล์', 'pdf'])
})

test('search() finds and abstains in other languages too', () => {
  const tools = [
    tool('旅行:预订机票', '预订国内和国际航班的机票'),
    tool('旅行:查询天气', '查询一个城市的天气预报'),
    tool('fichiers:lire', 'Lire le contenu d’un fichier.'),
    tool('файлы:читать', 'Прочитать содержимое файла.'),
  ]
  const index = buildIndex(tools)
  const first = (intent: string) => search(index, { intent, limit: 3 }).results[0]?.tool.id
  assert.equal(first('帮我订一张明天去巴黎的机票'), '旅行:预订机票')
  assert.equal(first('明天的天气怎么样'), '旅行:查询天气')
  assert.equal(first('lire un fichier'), 'fichiers:lire')
  assert.equal(first('ПРОЧИТАТЬ содержимое'), 'файлы:читать')
  for (const intent of ['教我做红烧肉', 'wie spät ist es', 'сколько стоит билет'])
    assert.equal(search(index, { intent, limit: 3 }).status, 'nothing_fits', intent)
})

test('contentOf() leaves small words and contractions out', () => {
  assert.deepEqual(contentWords("I'd like to know what's in the user's folder, please"), ['know', 'user', 'folder'])
})

test('isOneSlip() forgives one letter too many, too few, another, or two swapped', () => {
  for (const typed of ['commit', 'comit', 'commmit', 'commot', 'cmomit', 'commti'])
    assert(isOneEdit(typed, 'commit'), typed)
  for (const typed of ['comt', 'commmmit', 'cimmot', 'timmoc']) assert(!isOneEdit(typed, 'commit'), typed)
})

test('search() finds a tool by the kind of the things that an intent names', () => {
  const kinds = buildIndex([
    ...tools,
    tool('sky:weather', 'Tell the weather of a place.', { place: '' }),
    tool('money:exchange', 'Exchange one currency into another.', { from: '', to: '' }),
  ])
  const first = (intent: string) => search(kinds, { intent, limit: 10 }).results[0]?.tool.id
  assert.equal(first('is it going to snow in Berlin'), 'sky:weather')
  assert.equal(first('what is 20 yen in euro'), 'money:exchange')
})

test('search() is surer where words stand side by side as in the tool, and where more of what it says is asked for', () => {
  const score = (intent: string) => find(intent).results[0]!.score
  assert(score('violin counter number zebra piano') > score('violin counter zebra number piano'))
  const long = buildIndex([tool('a:b', 'Paint a fence. It is what gardeners and painters of gates and walls do.')])
  const said = (intent: string) => search(long, { intent, limit: 1 }).results[0]!.score
  assert(said('violin zebra paint a fence') > said('violin zebra gardeners walls'))
})
