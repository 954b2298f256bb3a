/**
 * A power cut: what the disk had at that moment, without what the kernel had not written yet, holds
 * every acknowledged event.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openStore, verify } from '#record'
import { temporaryFolder } from '#test'
import { startKeeper } from './record-process.ts'

const cuts = process.env.LONG === '1' ? 20 : 2

test(`${cuts} power cuts under write load lose no acknowledged event`, { timeout: cuts * 60_000 }, async (t) => {
  const reason = whyNot()
  if (reason) return t.skip(reason)
  const folder = temporaryFolder(t)
  let acknowledged = 0
  for (let cut = 0; cut < cuts; cut++) {
    const image = join(folder, `disk-${cut}`)
    execFileSync('truncate', ['-s', '64M', image])
    execFileSync('mkfs.ext4', ['-q', '-F', image])
    const disk = mount(t, image)
    const keeper = startKeeper(t, join(disk, 'home'), 'load')
    const { runs } = await keeper.ready
    await pause(300 + 100 * cut)
    await keeper.kill()
    copyFileSync(image, `${image}-cut`)

    const home = join(mount(t, `${image}-cut`), 'home')
    const verdict = await verify(home)
    assert.equal(verdict.ok, true, verdict.reason)
    const store = await openStore({ home })
    for (const run of runs) {
      const n = keeper.durable.get(run) ?? 1
      const events = store.events(run)
      assert.ok(events.length >= n, `${run} has ${events.length} of ${n} acknowledged events`)
      acknowledged += n
    }
    await store.close()
  }
  t.diagnostic(`${cuts} power cuts, ${acknowledged} acknowledged events, 0 lost`)
})

function whyNot(): string | null {
  if (process.getuid?.() !== 0) return 'needs root, to mount a loop device'
  if (!existsSync('/dev/loop-control')) return 'needs loop devices (/dev/loop-control)'
  if (!existsSync('/sbin/mkfs.ext4') && !existsSync('/usr/sbin/mkfs.ext4'))
    return 'needs mkfs.ext4: apt-get install e2fsprogs'
  return null
}

/** Mounted so that the kernel writes nothing by itself during the test. */
function mount(t: TestContext, image: string): string {
  const point = mkdtempSync(join(tmpdir(), 'metier-disk-'))
  execFileSync('mount', ['-o', 'loop,commit=300', image, point])
  t.after(() => {
    execFileSync('umount', ['--lazy', point])
    rmdirSync(point)
  })
  return point
}
