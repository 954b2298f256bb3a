/** A table of strings answers as the Map that it was made of. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deserialize, serialize } from 'node:v8'
import { dice } from '#test'
import { StringTable } from './string-table.ts'

test('StringTable answers as the map it was made of, also after it was stored', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const next = dice(seed)
    const below = (count: number) => Math.floor(next() * count)
    const letters = ['a', 'b', 'é', '漢', '😀', ' ', '']
    const word = () => Array.from({ length: below(5) }, () => letters[below(letters.length)]).join('')
    const numbers = () => Array.from({ length: below(4) }, () => below(2 ** 32))
    const map = new Map(Array.from({ length: below(200) }, () => [word(), numbers()]))
    const made = StringTable.of(map)
    const table = new StringTable(deserialize(serialize(made.parts)))
    assert.deepEqual(new Map(table.entries()), map, `seed ${seed}`)
    for (let at = 0; at < 200; at++) {
      const key = word()
      assert.deepEqual(table.get(key), map.get(key), `seed ${seed}, key ${JSON.stringify(key)}`)
    }
  }
})
