/** Go in a box: prepared once per machine, then fast at every tier, and refused with the command that prepares it. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { ScriptTier } from '#sandbox'
import { cacheFolder, lodge, whyNot } from '#test'

const tiers = (['os', 'gvisor'] as ScriptTier[]).filter((tier) => !whyNot(tier))
const hasGo = ['/usr/local/go/bin/go', '/usr/bin/go', '/usr/lib/go/bin/go'].some(existsSync)
const skip = whyNot('os') || (!hasGo && 'needs Go: https://go.dev/dl, or apt-get install golang-go')

const program = (body: string, ...imports: string[]) =>
  `package main\nimport (\n${['fmt', ...imports].map((name) => `"${name}"`).join('\n')}\n)\nfunc main() {\n${body}\n}\n`

test('a script in Go is refused with the command that prepares it', { skip }, async (t) => {
  const { boxes, close } = lodge(['os'])
  t.after(close)
  await assert.rejects(boxes.run({ interpreter: 'go run', script: program('fmt.Println(1)') }), {
    code: 'SANDBOX_SETUP_FAILED',
    message: /is not prepared\. Run: metier sandbox build$/,
  })
})

describe('scripts in Go', { skip }, () => {
  // The standard library takes a minute to compile: it is kept where the servers for tests are.
  const folder = join(cacheFolder, 'scripts')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { boxes, close } = lodge(['os', 'gvisor'], { folder })
  after(close)

  test('build() compiles the standard library once', { timeout: 540_000 }, async () => {
    const { languages } = await boxes.build()
    assert.ok(
      languages.every(({ ok }) => ok),
      JSON.stringify(languages),
    )
    const started = performance.now()
    await boxes.build()
    assert.ok(performance.now() - started < 2000)
    await boxes.accept('os')
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
      assert.match(wrong.stderr, /main\.go:5:\d+: undefined: x/)
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
