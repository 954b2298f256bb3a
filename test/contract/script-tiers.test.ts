/** Which tier a script gets, and that it is never silently a weaker one. */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AppError, isWeaker } from '#model'
import { rememberImage, runscModule, type ScriptTier } from '#sandbox'
import { binaryOf, lodge, temporaryFolder, whyNot } from '#test'

const echo = { interpreter: 'bash', script: 'echo yes' }
const needsOs = { skip: whyNot('os') }
const needsBoth = { skip: whyNot('os') || whyNot('gvisor') }

function lodgeFor(t: TestContext, ...args: Parameters<typeof lodge>): ReturnType<typeof lodge> {
  const lodging = lodge(...args)
  t.after(() => lodging.close())
  return lodging
}

/** A program in place of bubblewrap or runsc. */
function fake(t: TestContext, script: string): string {
  const file = join(temporaryFolder(t), 'fake')
  writeFileSync(file, `#!/bin/bash\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

test('run() uses the strongest tier there is', needsBoth, async (t) => {
  const { boxes } = lodgeFor(t, ['os', 'gvisor'])
  assert.equal((await boxes.run(echo)).isolation.tier, 'gvisor')
  assert.deepEqual((await boxes.isolation()).layers.slice(0, 1), ['gvisor'])
})

test('run() refuses with the command that helps when no tier is there', async (t) => {
  const { boxes } = lodgeFor(t, [])
  await assert.rejects(boxes.run(echo), (error: AppError) => {
    assert.equal(error.code, 'SANDBOX_SETUP_FAILED')
    assert.match(
      error.message,
      /^Cannot run a script at tier os: bubblewrap .*\. Run: (?:sudo )?apt-get install bubblewrap$/,
    )
    return true
  })
})

test('minTier fails closed, with the command that helps, and cannot be asked below', needsOs, async (t) => {
  const { boxes } = lodgeFor(t, ['os'], { minTier: 'gvisor' })
  await assert.rejects(boxes.run(echo), (error: AppError) => {
    assert.deepEqual(
      [error.code, error.context.fix],
      ['SANDBOX_SETUP_FAILED', `CGO_ENABLED=0 go install ${runscModule}`],
    )
    return true
  })
  await assert.rejects(boxes.run({ ...echo, tier: 'os' }), { code: 'PERMISSION_DENIED' })
  for (const tier of ['wasm', 'none', '', 3] as unknown as ScriptTier[]) {
    await assert.rejects(boxes.run({ ...echo, tier }), (error: AppError) => {
      assert.deepEqual([error.code, error.context.allowed_values], ['INVALID_INPUT_PARAM', ['os', 'gvisor']])
      return true
    })
  }
})

test('a tier weaker than one used before is refused until a human accepts it', needsBoth, async (t) => {
  const { boxes, folder } = lodgeFor(t, ['os', 'gvisor'])
  await boxes.run({ ...echo, tier: 'os' })
  await boxes.run(echo)
  const later = lodgeFor(t, ['os'], { folder })
  for (const other of [boxes.run({ ...echo, tier: 'os' }), later.boxes.run(echo)]) {
    await assert.rejects(other, (error: AppError) => {
      assert.deepEqual(error.context, { tier: 'os', before: 'gvisor' })
      return error.code === 'SANDBOX_TIER_DOWNGRADE'
    })
  }
  await later.boxes.accept('os')
  assert.equal((await later.boxes.run(echo)).isolation.tier, 'os')
  assert.equal((await boxes.run(echo)).isolation.tier, 'gvisor')
  assert.equal((await later.boxes.run(echo)).isolation.tier, 'os')
  writeFileSync(join(folder, 'tier.json'), '{"strongest":')
  await assert.rejects(later.boxes.run(echo), { code: 'SANDBOX_TIER_DOWNGRADE' })
})

test('test() names every tier, whether it holds, and what helps where it does not', needsOs, async (t) => {
  const { boxes } = lodgeFor(t, ['os'])
  const { tiers } = await boxes.test()
  assert.deepEqual(
    tiers.map(({ tier, ok }) => [tier, ok]),
    [
      ['os', true],
      ['gvisor', false],
    ],
  )
  assert.match(tiers[0]!.detail, /^bubblewrap \d/)
  assert.deepEqual(tiers[1], {
    tier: 'gvisor',
    ok: false,
    detail: 'runsc is not installed',
    fix: `CGO_ENABLED=0 go install ${runscModule}`,
  })
  assert.ok(isWeaker(tiers[0]!.tier, tiers[1]!.tier))
})

test('a tier is tried, not believed: a program that closes nothing is found out', needsOs, async (t) => {
  // It takes the arguments of bubblewrap and runs the command after "--" with no wall at all.
  const open = fake(
    t,
    '[ "$1" = --version ] && echo 9.9 && exit; while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
  )
  const leaky = fake(t, `exec ${binaryOf('os')} "\${@/--unshare-net/--unshare-ipc}"`)
  const writable = fake(
    t,
    `args=("$@"); for i in "\${!args[@]}"; do [ "\${args[i]}" = --ro-bind ] && args[i]=--bind; done; exec ${binaryOf('os')} "\${args[@]}"`,
  )
  const cases: [string, RegExp][] = [
    [open, /it (?:sees|holds|reaches|is user|writes)/],
    [leaky, /it reaches a port of the host/],
    [writable, /it changes its inputs|it writes to/],
    [fake(t, 'echo broken >&2; exit 1'), /broken/],
  ]
  for (const [bwrap, fault] of cases) {
    const { boxes, folder } = lodgeFor(t, [], { bwrap })
    await assert.rejects(boxes.run(echo), (error: AppError) => {
      assert.equal(error.code, 'SANDBOX_SETUP_FAILED')
      assert.match(error.message, fault)
      return true
    })
    assert.equal(existsSync(join(folder, 'self-test-os.json')), false, 'what does not hold is not remembered')
  }
})

test('where the fast platform of gVisor does not work, the slow one is used, and that is said', {
  skip: whyNot('gvisor'),
}, async (t) => {
  const runsc = fake(
    t,
    `case "$*" in *--platform=systrap*) echo 'no such platform' >&2; exit 1;; esac; exec ${binaryOf('gvisor')} "$@"`,
  )
  const { boxes } = lodgeFor(t, [], { runsc })
  const { stdout, isolation } = await boxes.run(echo)
  assert.equal(stdout, 'yes\n')
  assert.deepEqual(isolation.layers.slice(0, 2), ['gvisor', 'ptrace'])
  assert.match(isolation.degraded.join(), /hundred times as long/)
})

test('a runsc that is too old for a box is refused with the build that is not', async (t) => {
  const runsc = fake(
    t,
    `echo 'flag provided but not defined: -pass-fd' >&2; echo 'run [flags] <container id>' >&2; exit 2`,
  )
  const { boxes } = lodgeFor(t, [], { runsc })
  const { tiers } = await boxes.test()
  const { ok, detail, fix } = tiers.find(({ tier }) => tier === 'gvisor')!
  assert.deepEqual([ok, fix], [false, `CGO_ENABLED=0 go install ${runscModule}`])
  assert.match(detail, /systrap.*: Cannot open a box: flag provided but not defined: -pass-fd \| .*ptrace/)
})

test('two of one process can share a state folder', needsOs, async (t) => {
  const first = lodgeFor(t, ['os'])
  const second = lodgeFor(t, ['os'], { folder: first.folder })
  const both = [first, second, first, second].map(({ boxes }, i) =>
    boxes.run({ ...echo, script: `sleep 0.2; echo ${i}` }),
  )
  assert.deepEqual(
    (await Promise.all(both)).map(({ stdout }) => stdout),
    ['0\n', '1\n', '2\n', '3\n'],
  )
  await second.boxes.close()
  assert.equal((await first.boxes.run(echo)).stdout, 'yes\n')
})

test('what was tried is remembered for as long as the program is the same', needsOs, async (t) => {
  const folder = temporaryFolder(t)
  const bwrap = join(folder, 'bwrap')
  copyFileSync(binaryOf('os')!, bwrap)
  chmodSync(bwrap, 0o755)
  const state = join(folder, 'state')
  mkdirSync(state)
  const file = join(state, 'self-test-os.json')
  const tryOnce = async () => {
    const { boxes } = lodgeFor(t, [], { bwrap, folder: state })
    await boxes.run(echo)
    await boxes.close()
    return { key: JSON.parse(readFileSync(file, 'utf8')).key, writtenAt: statSync(file).mtimeMs }
  }
  const first = await tryOnce()
  assert.deepEqual(await tryOnce(), first)
  writeFileSync(bwrap, Buffer.concat([readFileSync(binaryOf('os')!), Buffer.from('changed')]))
  const changed = await tryOnce()
  assert.notEqual(changed.key, first.key)
  writeFileSync(file, 'half a fi')
  assert.equal((await tryOnce()).key, changed.key)
})

test('an image of another system takes the place of /usr', needsOs, async (t) => {
  const image = temporaryFolder(t)
  const { execFileSync } = await import('node:child_process')
  const names = ['bash', 'sh', 'cat', 'head', 'tail', 'sleep', 'ls', 'setpriv']
  const programs = names.map((name) => `/usr/bin/${name}`)
  const libraries = programs.flatMap((file) => execFileSync('ldd', [file], { encoding: 'utf8' }).match(/\/\S+/g) ?? [])
  for (const file of new Set([...programs, ...libraries.map((path) => path.replace(/^\/lib/, '/usr/lib'))])) {
    mkdirSync(join(image, file, '..'), { recursive: true })
    copyFileSync(file, join(image, file))
  }
  for (const name of ['bin', 'lib', 'lib64']) execFileSync('ln', ['-s', `usr/${name}`, join(image, name)])
  mkdirSync(join(image, 'etc'))
  writeFileSync(join(image, 'etc', 'marker'), 'from the image')
  execFileSync('chmod', ['-R', 'a+rX', image])
  const tiers: ScriptTier[] = whyNot('gvisor') ? ['os'] : ['os', 'gvisor']
  const { boxes } = lodgeFor(t, tiers, { image })
  await boxes.accept('os')
  for (const tier of tiers) {
    const script = 'cat /etc/marker; command -v python3; echo x >/usr/x; for f in /*; do printf " %s" "$f"; done'
    const { stdout } = await boxes.run({ interpreter: 'bash', script, tier })
    assert.match(
      stdout,
      /^from the image \/bin \/box \/dev \/etc \/inputs \/lib \/lib64 \/outputs \/proc (?:\/sys )?\/tmp \/usr \/workspace$/,
      tier,
    )
    await assert.rejects(boxes.run({ interpreter: 'python', script: 'x', tier }), (error: AppError) => {
      assert.deepEqual([error.code, /no python3/.test(error.message)], ['SANDBOX_SETUP_FAILED', true])
      return true
    })
  }
  await assert.rejects(lodgeFor(t, tiers, { image: join(image, 'etc') }).boxes.run(echo), {
    code: 'INVALID_INPUT_PARAM',
  })
  writeFileSync(join(image, 'usr/bin/ls'), '#!/bin/sh\nexit 1\n')
  const { degraded } = await lodgeFor(t, ['os'], { image }).boxes.isolation()
  assert.match(degraded.join('\n'), /coreutils fail \(ls\)/)
  const remembering = lodgeFor(t, ['os'])
  rememberImage(remembering.folder, image)
  assert.equal((await remembering.boxes.run({ ...echo, script: 'cat /etc/marker' })).stdout, 'from the image')
})
