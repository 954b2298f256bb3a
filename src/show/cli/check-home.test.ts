/** A home in a place where no folder can be. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metier, workspace } from '#test'

for (const words of [['runs'], ['serve', '--port', '0'], ['doctor'], ['sandbox', 'test']]) {
  test(`${words[0]} with a home that can never be created ends at once with exit code 3 and says why`, async (t) => {
    const space = workspace(t)
    writeFileSync(join(space.folder, 'file'), '')
    for (const home of [
      '/proc/nope',
      '/proc/self/nope/deep',
      join(space.folder, 'file'),
      join(space.folder, 'file', 'deep'),
    ]) {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
      }, 30_000)
      const { code, stderr } = await metier(space, [...words, '--home', home], { killWhen: () => isLate })
      clearTimeout(timer)
      assert.equal(code, 3, `${home}: ${stderr}`)
      assert.match(stderr, /Cannot use the home folder ".*": ".*" (?:is not a folder|belongs to the kernel).*--home/)
    }
  })
}
