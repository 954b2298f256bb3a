/**
 * Go in a box: prepared once per machine, then fast at every tier, and refused with the command
 * that prepares it.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ScriptTier } from '#sandbox'
import { cacheFolder, lodge, whyNot } from '#test'

const tiers = (['os', 'gvisor'] as ScriptTier[]).filter((tier) => !whyNot(tier))
const hasGo = ['/usr/local/go/bin/go', '/usr/bin/go', '/usr/lib/go/bin/go'].some(existsSync)
const needsGo = !hasGo && 'needs Go: apt-get install golang-go'
const library = join(cacheFolder, 'scripts')
const isPrepared = existsSync(library) && readdirSync(library).some((name) => name.startsWith('go-cache-'))
const skip = whyNot('os') || needsGo || (!isPrepared && 'needs Go prepared: node scripts/services.ts up scripts')

const program = (body: string, ...imports: string[]) =>
  `package main\nimport (\n${['fmt', ...imports].map((name) => `"${name}"`).join('\n')}\n)\nfunc main() {\n${body}\n}\n`

test('a script in Go is refused with the command that prepares it', { skip: whyNot('os') || needsGo }, async (t) => {
  const { boxes, close } = lodge(['os'])
  t.after(close)
  await assert.rejects(boxes.run({ interpreter: 'go run', script: program('fmt.Println(1)') }), {
    code: 'SANDBOX_SETUP_FAILED',
    message: /is not prepared\. Run: metier sandbox build$/,
  })
})

describe('scripts in Go', { skip }, () => {
  // The standard library takes minutes to compile: it is kept where the servers for tests are.
  const { boxes, close } = lodge(['os', 'gvisor'], { folder: library })
  after(close)

  test('build() finds what was prepared, and is done at once', async () => {
    await boxes.accept('os')
    const started = performance.now()
    const { languages } = await boxes.build()
    assert.ok(
      languages.every(({ ok }) => ok),
      JSON.stringify(languages),
    )
    assert.ok(performance.now() - started < 10_000)
  })

  for (const tier of tiers) {
    test(`a program runs at tier ${tier}, with its own exit code`, async () => {
      const body = `b, _ := json.Marshal(map[string]int{"n": ${Date.now()}})
        in, _ := io.ReadAll(os.Stdin)
        fmt.Println(string(b), len(in), http.StatusTeapot)
        fmt.Fprintln(os.Stderr, "err")
        os.Exit(7)`
      const script = program(body, 'encoding/json', 'io', 'net/http', 'os')
      const { exitCode, stdout, stderr, ms } = await boxes.run({
        interpreter: 'go run',
        script,
        tier,
        timeoutSeconds: 50,
      })
      assert.deepEqual([exitCode, stderr], [7, 'err\n'])
      assert.match(stdout, /^\{"n":\d+\} 0 418\n$/)
      assert.ok(ms < 20_000, `${ms} ms: without its library it would take longer`)
    })

    test(`an error of the compiler is the script's at tier ${tier}`, async () => {
      const wrong = await boxes.run({ interpreter: 'go', script: program('fmt.Println(x)'), tier, timeoutSeconds: 50 })
      assert.deepEqual([wrong.exitCode, wrong.stdout], [1, ''])
      assert.match(wrong.stderr, /main\.go:6:\d+: undefined: x/)
    })

    test(`no module can be fetched and nothing prepared can be changed at tier ${tier}`, async () => {
      const foreign = program('fmt.Println(uuid.New())', 'github.com/google/uuid')
      const { exitCode, stderr } = await boxes.run({ interpreter: 'go', script: foreign, tier, timeoutSeconds: 50 })
      assert.deepEqual([exitCode, /github\.com\/google\/uuid/.test(stderr)], [1, true])
      const write =
        'for p in /box/go /box/go-cache /box/go-cache/00; do echo x >$p/x && echo OPEN; done 2>/dev/null; echo no'
      assert.equal((await boxes.run({ interpreter: 'bash', script: write, tier })).stdout, 'no\n')
      const body = 'fmt.Println(os.WriteFile("/box/go-cache/x", nil, 0o600), os.WriteFile("/box/go/x", nil, 0o600))'
      const { stdout } = await boxes.run({ interpreter: 'go', script: program(body, 'os'), tier, timeoutSeconds: 50 })
      assert.doesNotMatch(stdout, /<nil>/)
    })
  }
})

if (process.env.LONG === '1') {
  test('build() compiles the standard library from nothing', { skip: whyNot('os') || needsGo }, async (t) => {
    const { boxes, close } = lodge(['os'])
    t.after(close)
    const { languages } = await boxes.build()
    assert.ok(
      languages.every(({ ok }) => ok),
      JSON.stringify(languages),
    )
    const script = program('fmt.Println("ready")')
    assert.equal((await boxes.run({ interpreter: 'go', script })).stdout, 'ready\n')
  })
}
