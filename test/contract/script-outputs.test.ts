/**
 * Files that a script named are handed out at every tier, and nothing else is: no link, no device,
 * nothing that is too large, and nothing that changes while it is read.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type AppError, limits } from '#model'
import type { ScriptRequest, ScriptResult } from '#sandbox'
import { isRunning, type Lodging, leftovers, lodge, whyNot } from '#test'

type Handed = { result: ScriptResult; files: Record<string, Buffer> }

for (const tier of ['os', 'gvisor'] as const) {
  describe(`outputs at tier ${tier}`, { skip: whyNot(tier) }, () => {
    let lodging: Lodging
    before(() => {
      lodging = lodge([tier])
    })
    after(async () => {
      await lodging.boxes.close()
      assert.deepEqual(leftovers(lodging.folder), [])
      await lodging.close()
    })

    async function run(script: string, names: string[], more: Partial<ScriptRequest> = {}): Promise<Handed> {
      const files: Record<string, Buffer> = {}
      const onOutput: ScriptRequest['onOutput'] = async ({ path, bytes, sha256, content }) => {
        const chunks: Uint8Array[] = []
        for await (const chunk of content) chunks.push(chunk)
        const whole = Buffer.concat(chunks)
        assert.deepEqual([bytes, sha256], [whole.length, createHash('sha256').update(whole).digest('hex')])
        files[path.slice('/outputs/'.length)] = whole
      }
      const outputs = names.map((name) => `/outputs/${name}`)
      const request = { interpreter: 'bash', script, timeoutSeconds: 20, outputs, onOutput, ...more }
      return { result: await lodging.boxes.run(request), files }
    }
    const reasons = ({ result }: Handed) =>
      Object.fromEntries(result.missing.map(({ path, reason }) => [path.slice('/outputs/'.length), reason]))
    const texts = ({ files }: Handed) =>
      Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.toString()]))

    test('run() hands out the files that were named, whatever their names and however the script ended', async () => {
      const names = ['deep/er/a.txt', `it's "q" $(x) é.txt`, '-n', 'empty', 'never']
      const script = `cd /outputs; mkdir -p deep/er; printf one >deep/er/a.txt; printf two >"it's \\"q\\" \\$(x) é.txt"
printf three >./-n; : >empty; echo kept >other; echo said; exit 3`
      const handed = await run(script, names)
      assert.deepEqual(texts(handed), { 'deep/er/a.txt': 'one', [names[1]!]: 'two', '-n': 'three', empty: '' })
      assert.deepEqual(handed.result.missing, [{ path: '/outputs/never', reason: 'absent' }])
      assert.deepEqual([handed.result.exitCode, handed.result.stdout], [3, 'said\n'])
      assert.deepEqual(
        handed.result.outputs.map(({ path, bytes }) => [path, bytes]),
        [
          ['/outputs/deep/er/a.txt', 3],
          [`/outputs/${names[1]}`, 3],
          ['/outputs/-n', 5],
          ['/outputs/empty', 0],
        ],
      )
      assert.equal(handed.result.isolation.tier, tier)
    })

    test('run() hands out every byte of 64 files, and from every language alike', async () => {
      const names = Array.from({ length: limits.scriptOutputFilesMax }, (_, i) => `${i}`)
      const script = 'import os\nfor i in range(64): open(f"/outputs/{i}", "wb").write(bytes(range(256)) * 1024)'
      const { files } = await run(script, names, { interpreter: 'python' })
      const whole = Buffer.alloc(256 * 1024, Buffer.from(Array.from({ length: 256 }, (_, i) => i)))
      assert.equal(names.filter((name) => files[name]?.equals(whole)).length, names.length)
    })

    test('a box has /outputs only where a file was named, and with a size', async () => {
      const { stdout } = await lodging.boxes.run({ interpreter: 'bash', script: 'echo x >/outputs/a && echo OPEN' })
      assert.equal(stdout, '')
      const full = await run('head -c 100M /dev/zero | split -b 16M - /outputs/; du -sb /outputs | cut -f1', ['aa'])
      const used = Number(full.result.stdout)
      assert.ok(used > limits.scriptOutputFilesBytesMax - 1024 * 1024, String(used))
      assert.ok(used <= limits.scriptOutputFilesBytesMax + 1024, String(used))
      assert.equal(full.files.aa!.length, 16 * 1024 * 1024)
    })

    test('run() follows no link and opens no folder, pipe, socket or device', async () => {
      const script = `
import os, socket
os.chdir('/outputs')
os.symlink('/etc/passwd', 'link'); os.symlink('/etc', 'etc'); os.symlink('plain', 'near'); os.symlink('/nowhere', 'gone')
os.symlink('/proc/self/fd/0', 'descriptor'); os.mkfifo('pipe'); os.mkdir('folder'); os.mkdir('real')
open('plain', 'w').write('plain'); open('real/x', 'w').write('x'); os.symlink('real', 'alias')
socket.socket(socket.AF_UNIX).bind('socket')
open('locked', 'w').write('x'); os.chmod('locked', 0)
for act in (lambda: os.link('/inputs/data', 'hard'), lambda: os.link('/etc/passwd', 'hard'), lambda: os.mknod('device', 0o20666, os.makedev(1, 3))):
  try: act(); print('OPEN')
  except OSError: print('no')
os.link('plain', 'second')`
      const bad = ['link', 'etc/passwd', 'near', 'gone', 'descriptor', 'pipe', 'folder', 'alias/x', 'socket']
      const names = [...bad, 'hard', 'device', 'locked', 'plain', 'second', 'real/x', 'a/b/c']
      async function* data() {
        yield Buffer.from('of the host')
      }
      const inputs = [{ path: '/inputs/data', source: data() }]
      const handed = await run(script, names, { interpreter: 'python', inputs })
      assert.equal(handed.result.stdout, 'no\nno\nno\n', handed.result.stderr)
      assert.deepEqual(reasons(handed), {
        ...Object.fromEntries(bad.map((name) => [name, 'not_regular'])),
        hard: 'absent',
        device: 'absent',
        locked: 'unreadable',
        'a/b/c': 'absent',
      })
      assert.deepEqual(texts(handed), { plain: 'plain', second: 'plain', 'real/x': 'x' })
    })

    test('run() hands out nothing that is too large, alone or together, and sparse files are no way around it', async () => {
      const most = limits.artifactBytesMax
      const script = `cd /outputs; truncate -s 10G huge; truncate -s ${most + 1} large; truncate -s ${most} a b c d; echo x >e`
      const handed = await run(script, ['huge', 'large', 'a', 'b', 'c', 'd', 'e'])
      assert.deepEqual(reasons(handed), { large: 'too_large', d: 'too_large' })
      assert.deepEqual(
        Object.entries(handed.files).map(([name, { length }]) => [name, length]),
        [
          ['huge', 0],
          ['a', most],
          ['b', most],
          ['c', most],
          ['e', 2],
        ],
      )
    })

    test('what a script left running is dead before its files are looked at', async () => {
      const script = `
cd /outputs; echo done >kept
for i in 1 2 3; do (trap '' TERM HUP INT; cd /outputs; while :; do
  echo x >>grows; echo y >new.$i; mv -f new.$i kept 2>/dev/null; ln -sfn /etc/passwd kept; done) >/dev/null 2>&1 & disown; done
setsid bash -c 'while :; do echo x >>/outputs/grows; done' >/dev/null 2>&1 &
sleep 0.4; exit 0`
      for (let i = 0; i < 5; i++) {
        const { result, files } = await run(script, ['kept', 'grows'])
        assert.match(files.grows!.toString(), /^(?:x\n)+$/)
        const [missing] = result.missing
        if (missing) assert.deepEqual(missing, { path: '/outputs/kept', reason: 'not_regular' })
        else assert.match(files.kept!.toString(), /^(?:done|y)?\n?$/)
      }
      assert.equal(isRunning('/outputs/grows'), false)
    })

    test('a script that filled its box with processes still hands out its files', async () => {
      const bomb = await run('f() { f | f & }; f 2>/dev/null; sleep 1; echo here >/outputs/a', ['a'])
      assert.deepEqual(texts(bomb), { a: 'here\n' })
      const sleepers = `
import os, time
open('/outputs/a', 'w').write('here')
try:
  while True:
    if os.fork() == 0: time.sleep(4244)
except OSError: os._exit(5)`
      const full = await run(sleepers, ['a'], { interpreter: 'python' })
      assert.deepEqual([full.result.exitCode, texts(full)], [5, { a: 'here' }])
    })

    test('a script that speaks in place of the first process gains nothing by it', async () => {
      const lie = "b'e0\\\\nfile 99999999999\\\\n' + b'x' * 100000"
      const script = `
import os
for number in (3, 4):
  try: os.write(os.open('/proc/1/fd/%d' % number, os.O_WRONLY | os.O_NONBLOCK), ${lie.replaceAll('\\\\', '\\')})
  except OSError: pass
open('/outputs/a', 'w').write('true')
raise SystemExit(7)`
      const ended = await run(script, ['a'], { interpreter: 'python' }).catch((error) => error)
      // gVisor lets it open the pipe, and so does the kernel where the script's user is ours.
      const isKept = tier === 'os' && process.getuid?.() === 0
      if (!isKept && ended instanceof Error) assert.equal((ended as AppError).code, 'SANDBOX_EXECUTION_FAILED')
      else assert.deepEqual([ended.result?.exitCode, ended.files?.a?.toString()], [7, 'true'])
    })

    test('a script without outputs does not choose another exit code than its own', async () => {
      const script = `
import os
for words in (b'e0', b'\\ne0\\n', b'e0e0e0'):
  try: os.write(os.open('/proc/1/fd/3', os.O_WRONLY | os.O_NONBLOCK), words)
  except OSError: pass
raise SystemExit(7)`
      assert.equal((await lodging.boxes.run({ interpreter: 'python', script })).exitCode, 7)
    })

    test('a script that is stopped hands out nothing, and nothing of it is left on the host', async () => {
      const stopped = run('echo x >/outputs/a; sleep 30', ['a'], { timeoutSeconds: 1 })
      await assert.rejects(stopped, { code: 'SANDBOX_TIMEOUT' })
      const broken = run('echo x >/outputs/a', ['a'], {
        onOutput: async () => {
          throw new Error('the store is gone')
        },
      })
      await assert.rejects(broken, /the store is gone/)
      const boxes = join(lodging.folder, 'boxes')
      const left = existsSync(boxes) ? readdirSync(boxes, { recursive: true }).map(String) : []
      assert.deepEqual(
        left.filter((name) => name.includes('-outputs')),
        [],
      )
    })
  })
}
