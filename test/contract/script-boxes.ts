/** What every way to close a script in must do: bubblewrap and gVisor alike. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type AppError, limits } from '#model'
import type { ScriptRequest, ScriptResult, ScriptTier } from '#sandbox'
import { isRunning, type Lodging, leftovers, lodge, whyNot } from '#test'

export function scriptBoxesContract(tier: ScriptTier): void {
  const skip = whyNot(tier)
  describe(`script boxes at tier ${tier}`, { skip }, () => {
    let lodging: Lodging
    let folder: string
    before(async () => {
      lodging = lodge([tier])
      folder = mkdtempSync(join(tmpdir(), 'metier-files-'))
      assert.equal((await lodging.boxes.isolation()).tier, tier)
    })
    after(async () => {
      await lodging.boxes.close()
      assert.deepEqual(leftovers(lodging.folder), [])
      await lodging.close()
      rmSync(folder, { recursive: true })
    })
    const run = (request: Partial<ScriptRequest> & { script: string }): Promise<ScriptResult> =>
      lodging.boxes.run({ interpreter: 'bash', timeoutSeconds: 20, ...request })
    const python = (script: string, more: Partial<ScriptRequest> = {}) =>
      run({ interpreter: 'python', script, ...more })
    const refused = async (code: string, promise: Promise<unknown>): Promise<AppError> => {
      const error = await promise.then(
        (value) => assert.fail(`a result came instead of ${code}: ${JSON.stringify(value).slice(0, 500)}`),
        (thrown) => thrown,
      )
      assert.equal(error.code, code, String(error))
      return error
    }

    test('run() answers with what the script printed, how it ended, and how its box was closed', async () => {
      const result = await python('import sys\nprint("out")\nprint("err", file=sys.stderr)\nsys.exit(3)')
      const { ms, firstByteMs, isolation, ...rest } = result
      const printed = { exitCode: 3, stdout: 'out\n', stderr: 'err\n', truncated: false, clamped: false }
      assert.deepEqual(rest, { ...printed, outputs: [], missing: [] })
      assert.ok(ms > 0 && firstByteMs !== null && firstByteMs <= ms)
      assert.equal(isolation.tier, tier)
      assert.deepEqual(isolation, await lodging.boxes.isolation())
    })

    test('run() tells the end by a signal as a shell would', async () => {
      assert.equal((await run({ script: 'kill -9 $$' })).exitCode, 137)
      assert.equal((await run({ script: 'kill -TERM $$' })).exitCode, 143)
      const crash = await python('import ctypes\nctypes.string_at(0)')
      assert.deepEqual([crash.exitCode, crash.stderr], [139, ''])
    })

    test('run() gives the script all of itself, and nothing on its input', async () => {
      const eats = await run({ script: 'echo first\ncat\nread x\necho "second [$x]"' })
      assert.equal(eats.stdout, 'first\nsecond []\n')
      const text = 'echo "été ☕ 𝄞"\n\n'
      assert.equal((await run({ script: text })).stdout, 'été ☕ 𝄞\n')
      const long = `# ${'x'.repeat(limits.scriptBytesMax - 100)}\nprint("end")`
      assert.equal((await python(long)).stdout, 'end\n')
      assert.match((await python('input()')).stderr, /EOFError/)
      assert.equal((await run({ script: 'set -- a b; echo "$#${s-none}$0"' })).stdout, '2nonebash\n')
      assert.match((await run({ script: 'if true' })).stderr, /syntax error/)
    })

    test('run() lets a script open /dev/stdout and /dev/stderr, as shell scripts do', async () => {
      const { stdout, stderr } = await run({ script: 'echo out >/dev/stdout; echo err >/dev/stderr; cat /dev/stdin' })
      assert.deepEqual([stdout, stderr], ['out\n', 'err\n'])
    })

    test('run() stops a script at its time, with the first 4 KB of what it printed', async () => {
      const script = 'head -c 5000 /dev/zero | tr "\\0" x; echo slow >&2; trap "" TERM INT; while :; do sleep 1; done'
      const started = performance.now()
      const { context, message } = await refused('SANDBOX_TIMEOUT', run({ script, timeoutSeconds: 1.5 }))
      assert.ok(performance.now() - started < 8000)
      assert.deepEqual([context.stdout, context.stderr], ['x'.repeat(4096), 'slow\n'])
      assert.match(message, /longer than 1\.5 s/)
    })

    test('run() shows inputs where they were asked for, read-only', async () => {
      const file = join(folder, 'data.csv')
      writeFileSync(file, 'a,b\n1,2\n', { mode: 0o600 })
      async function* bytes() {
        yield Buffer.from('par')
        yield Buffer.from('ts')
      }
      const inputs = [
        { path: '/inputs/data.csv', source: file },
        { path: '/inputs//deep/./x/../y.txt', source: bytes() },
      ]
      const script = 'cat /inputs/data.csv /inputs/deep/y.txt; echo; find /inputs -type f | sort; id -u'
      const { stdout } = await run({ script, inputs })
      assert.equal(stdout, 'a,b\n1,2\nparts\n/inputs/data.csv\n/inputs/deep/y.txt\n65534\n')
      const attack = `
import os
for act in (lambda: open('/inputs/data.csv', 'a'), lambda: os.unlink('/inputs/data.csv'), lambda: os.chmod('/inputs/data.csv', 0o777),
            lambda: open('/inputs/new', 'w'), lambda: os.rename('/inputs/data.csv', '/inputs/b'), lambda: os.mkdir('/inputs/d')):
  try: act(); print('OPEN')
  except OSError: print('no')`
      assert.equal((await python(attack, { inputs: inputs.slice(0, 1) })).stdout, 'no\n'.repeat(6))
    })

    test('run() takes 64 inputs', async () => {
      const file = join(folder, 'one')
      writeFileSync(file, '1')
      const inputs = Array.from({ length: 64 }, (_, i) => ({ path: `/inputs/${i}`, source: file }))
      assert.equal((await run({ script: 'cat /inputs/* | wc -c', inputs })).stdout.trim(), '64')
    })

    test('run() refuses inputs that are links, folders, missing or too large, and leaves no box behind', async () => {
      writeFileSync(join(folder, 'secret'), 'secret')
      symlinkSync(join(folder, 'secret'), join(folder, 'link'))
      mkdirSync(join(folder, 'sub'))
      for (const name of ['link', 'sub', 'absent']) {
        const inputs = [{ path: '/inputs/x', source: join(folder, name) }]
        const { context } = await refused('INVALID_INPUT_PARAM', run({ script: 'cat /inputs/x', inputs }))
        assert.equal(context.param, 'inputs')
      }
      async function* endless() {
        for (;;) yield Buffer.alloc(16 * 1024 * 1024)
      }
      const inputs = [{ path: '/inputs/x', source: endless() }]
      await refused('INVALID_INPUT_PARAM', run({ script: 'true', inputs }))
    })

    test('run() keeps 1 MB of each output, says what is missing, and replaces what is no UTF-8', async () => {
      const most = limits.scriptOutputBytesMax
      const exact = await python(`import sys\nsys.stdout.write('x'*${most})`)
      assert.deepEqual([exact.stdout.length, exact.truncated], [most, false])
      const more = await python(`import sys\nsys.stdout.write('x'*${most + 1})\nsys.stderr.write('é'*${most})`)
      assert.deepEqual([more.stdout.length, more.stderr, more.truncated], [most, 'é'.repeat(most / 2), true])
      const odd = await python(`import sys\nsys.stderr.write('x'*1)\nsys.stderr.write('é'*${most})`)
      assert.equal(odd.stderr, `x${'é'.repeat(most / 2 - 1)}`, 'no character is cut in two')
      const wrong = await python("import os\nos.write(1, b'a\\xff\\xfeb')")
      assert.equal(wrong.stdout, 'a\ufffd\ufffdb')
    })

    test('run() kills a flood of output', async () => {
      for (const where of ['', '>&2']) {
        const started = performance.now()
        const { context } = await refused('SANDBOX_RESOURCE_LIMIT', run({ script: `yes ${where}` }))
        assert.ok(performance.now() - started < 10_000)
        assert.equal(context.truncated, true)
        assert.equal(String(where ? context.stderr : context.stdout).length, 4096)
      }
    })

    test('run() never takes a lack of memory for an error of the script', async () => {
      await refused('SANDBOX_RESOURCE_LIMIT', python("a = []\nwhile True: a.append(b'x' * (10 << 20))"))
      const eight = `for i in 1 2 3 4 5 6 7 8; do python3 -c 'import time; x = b"x" * (100 << 20); time.sleep(2)' & done; wait; exit 0`
      await refused('SANDBOX_RESOURCE_LIMIT', run({ script: eight }))
      const within = await python("x = b'x' * (150 << 20)\nprint(len(x))")
      assert.equal(within.stdout, `${150 << 20}\n`)
    })

    test('run() bounds tasks, open files and /tmp, and the script can go on', async () => {
      const forks = `
import os, time
n = 0
try:
  while n < 500:
    if os.fork() == 0: time.sleep(30); os._exit(0)
    n += 1
except OSError: pass
print(n)`
      const tasks = Number((await python(forks)).stdout)
      assert.ok(tasks > 40 && tasks <= limits.scriptTasksMax, `${tasks} tasks`)
      const disk = await run({
        script:
          'head -c 100M /dev/zero >/tmp/f; stat -c %s /tmp/f; head -c 100M /dev/zero >/dev/shm/f; stat -c %s /dev/shm/f',
      })
      assert.deepEqual(disk.stdout.split('\n').map(Number), [
        limits.scriptDiskBytesMax,
        limits.scriptSharedMemoryBytesMax,
        0,
      ])
      const files = await python(
        'import os\nn = 0\ntry:\n  while True: os.open("/dev/null", 0); n += 1\nexcept OSError: print(n)',
      )
      assert.ok(Number(files.stdout) <= limits.scriptFilesMax)
    })

    test('run() ends with the script whatever it left running', async () => {
      const mark = `31${process.pid}`
      const script = `(setsid sleep ${mark} >/dev/null 2>&1 &); sleep ${mark} & nohup sleep ${mark} & echo done`
      const started = performance.now()
      assert.equal((await run({ script })).stdout, 'done\n')
      assert.ok(performance.now() - started < 5000)
      assert.equal(isRunning(`sleep ${mark}`), false)
    })

    test('run() keeps nothing from one script to the next', async () => {
      await run({ script: 'echo x >/tmp/kept; echo x >/dev/shm/kept' })
      assert.equal((await run({ script: 'ls -A /tmp /dev/shm' })).stdout, '/dev/shm:\n\n/tmp:\n')
    })

    test('run() can be cancelled, before and while it runs', async () => {
      await refused('CANCELLED', run({ script: 'echo', signal: AbortSignal.abort() }))
      const mark = `32${process.pid}`
      const stop = new AbortController()
      const running = run({ script: `sleep ${mark}`, signal: stop.signal })
      await pause(700)
      stop.abort()
      await refused('CANCELLED', running)
      assert.equal(isRunning(`sleep ${mark}`), false)
    })

    test('run() runs scripts side by side, each with its own box', async () => {
      const all = Array.from({ length: 5 }, (_, i) => run({ script: `echo ${i} >/tmp/x; sleep 0.3; cat /tmp/x` }))
      assert.deepEqual(
        (await Promise.all(all)).map(({ stdout }) => stdout),
        ['0\n', '1\n', '2\n', '3\n', '4\n'],
      )
    })

    test('warm() has a box ready, in which a script starts at once', async () => {
      await lodging.boxes.warm('python')
      await pause(500)
      const { firstByteMs, exitCode } = await python('print(1)')
      assert.equal(exitCode, 0)
      assert.ok(firstByteMs! < 500, `${firstByteMs} ms: nothing was left to do but the script`)
    })

    test('the environment of a script holds nothing of ours', async () => {
      process.env.METIER_CANARY = 'canary-in-the-environment'
      const { stdout } = await run({
        script:
          'env -0 | cut -z -d= -f1 | sort -z | tr "\\0" " "; tr "\\0" "\\n" </proc/1/environ; cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"',
      })
      delete process.env.METIER_CANARY
      assert.match(stdout, /^HOME LANG PATH PWD SHLVL _ /)
      assert.doesNotMatch(stdout, /canary/i)
    })

    test('the mounts that a script can read name nothing of the host, or the report says that they do', async () => {
      const { stdout, isolation } = await run({ script: 'cat /proc/self/mountinfo /proc/mounts' })
      const isSaid = isolation.degraded.some((line) => line.includes('/proc/self/mountinfo'))
      assert.deepEqual([stdout.includes(lodging.folder), isSaid], tier === 'os' ? [true, true] : [false, false])
    })

    test('the first process of a box is held as the script is', async () => {
      const script = 'for p in 1 self; do grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/$p/status; done'
      const lines = (await run({ script })).stdout.trim().split('\n')
      assert.deepEqual(lines.slice(0, lines.length / 2), lines.slice(lines.length / 2))
      assert.match(lines[0]!, /^CapEff:\s+0+$/)
      if (tier === 'os') assert.match(lines.join(), /NoNewPrivs:\t1,Seccomp:\t2/)
    })

    test('no package manager works inside', async () => {
      const script = `
for c in 'python3 -m pip --version' 'python3 -m ensurepip' 'pip3 install x' 'apt-get install -y sl' 'dpkg -i x.deb' 'npm install x' 'gem install x' 'cargo install x'; do
  timeout 10 $c >/dev/null 2>&1 && echo "OPEN $c"; done; python3 -c 'import pip' 2>&1 | tail -n 1; ls -A /usr/local; exit 0`
      assert.equal((await run({ script })).stdout, "ModuleNotFoundError: No module named 'pip'\n")
    })
  })
}
