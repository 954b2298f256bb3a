/**
 * An auditor's program: it knows the two specifications and nothing of Métier. From the ledger of a
 * session alone it puts the chain together again, instruction → answer → artifacts → next action →
 * output → continuation → … → final result, and holds every file of the workspace against it.
 *
 *   node test/session-auditor.ts WORKSPACE SESSION
 *
 * Exits with 0 and the chain, or with 7 and the first thing that does not fit.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// biome-ignore lint/suspicious/noExplicitAny: an auditor takes nothing for granted; each member is looked at.
type Any = any
type Call = { call: string; tool: string; args: Any; step: number; value?: Any; error?: Any; n: number; at: string }
type SpokenLine = { at: string; step: number; role: string; text: string }
export type Link = { step: number; what: string; detail: string }

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

export function auditSession(workspace: string, session: string): Link[] {
  const read = (path: string) => {
    assert.ok(existsSync(join(workspace, path)), `${path} is missing`)
    return readFileSync(join(workspace, path))
  }
  const manifestFile = `manifests/session_${session}_manifest.json`
  const manifestText = read(manifestFile).toString()
  const lines = read(`ledger/session_${session}.jsonl`).toString().split('\n')
  assert.equal(lines.pop(), '', 'the last line of the ledger is not complete')
  const head = { n: lines.length, hash: hashOf(lines) }
  assert.deepEqual(JSON.parse(manifestText).head, head, 'the ledger is not the one that the manifest closes')
  const blob = (digest: string) => {
    const bytes = read(`ledger/blobs/${digest}`)
    assert.equal(sha256(bytes), digest, `ledger/blobs/${digest} does not hold what it is named after`)
    return JSON.parse(bytes.toString())
  }
  const events = lines.map((line) => withBlobs(JSON.parse(line), blob))
  const { links, calls, said, files, outputs } = reconstruct(events, session)
  const { result } = events.at(-1).body
  checkProtocol(events[0], calls, result !== undefined)
  if (result !== undefined) checkResult(events[0], calls, result, files)
  for (const { path, sha256: digest } of files)
    assert.equal(sha256(read(path)), digest, `${path} is not what the session wrote`)
  const { at: startedAt, body } = events[0]
  const last = events.at(-1)
  const endedAt = last.type === 'run.finished' ? last.at : null
  const manifest = { session, startedAt, endedAt, instruction: body.plan.source.goal, files, outputs, head }
  assert.equal(manifestText, `${JSON.stringify(manifest, null, 2)}\n`, 'the manifest does not follow from the ledger')
  checkTranscript(read, session, said)
  return links
}

/** Each hash covers the one before it and the exact bytes of a line. */
function hashOf(lines: string[]): string {
  return lines.reduce((hash, line) => sha256(`${hash}\n${line}`), '0'.repeat(64))
}

/** A member of a body may stand in a file of its own; deeper inside of it nothing does. */
function withBlobs({ body, ...event }: Any, blob: (digest: string) => Any): Any {
  const members = Object.entries<Any>(body).map(([name, value]) => [
    name,
    typeof value?.$blob === 'string' ? blob(value.$blob) : value,
  ])
  return { ...event, body: Object.fromEntries(members) }
}

function reconstruct(events: Any[], session: string) {
  const [{ body: started, at }] = events
  const { goal } = started.plan.source
  const calls = new Map<string, Call>()
  const links: Link[] = [{ step: 0, what: 'instruction', detail: goal }]
  const said: SpokenLine[] = [{ at, step: 0, role: 'user', text: goal }]
  let files: Any[] = []
  const outputs: Any[] = []
  let step = 0
  for (const [index, { run, n, type, at, body }] of events.entries()) {
    assert.deepEqual([run, n], [session, index + 1], 'an event is out of its place')
    if (type === 'call.issued' && !body.call.includes('.')) {
      if (body.tool.startsWith('model:')) {
        const { text } = body.args.messages.at(-1)
        if (text.startsWith('System: Your answer was not used: ')) {
          links.push({ step, what: 'correction', detail: text })
          said.push({ at, step, role: 'system', text })
        }
        step += 1
      }
      calls.set(body.call, { call: body.call, tool: body.tool, args: body.args, step, n, at })
    }
    const call = type === 'call.resolved' ? calls.get(body.call) : undefined
    if (call !== undefined) {
      Object.assign(call, body.ok ? { value: body.value, n, at } : { error: body.error, n, at })
      links.push(linkOf(call))
      said.push({ at, step: call.step, ...wordsOf(call) })
      for (const { path, artifactID, storagePath, sha256, bytes } of call.value?.artifacts ?? [])
        outputs.push({ path, artifactID, storagePath, sha256, bytes, step: call.step, event: n })
      if (call.value && call.tool.startsWith('workspace:write')) {
        const { path, sha256 } = call.value
        assert.equal(sha256, digestOf(call.args), `${path} was written with another content than was asked for`)
        for (const { path, sha256, bytes } of [call.value.kept ?? [], call.value].flat())
          files = [...files.filter((file) => file.path !== path), { path, sha256, bytes, step: call.step, event: n }]
      }
    }
    if (type === 'run.finished') {
      const text = body.result ? body.result.text : `${body.error?.code} ${body.error?.message}`
      links.push({ step, what: 'final result', detail: text })
      said.push({ at, step, role: 'final', text })
    }
  }
  return { links, said, files, outputs, calls: [...calls.values()] }
}

function digestOf({ content, encoding = 'utf8' }: Any): string {
  return sha256(Buffer.from(content, encoding))
}

function linkOf({ call, tool, args, step, value, error }: Call): Link {
  if (error) return { step, what: `refused: ${tool}`, detail: `${error.code} ${error.message}` }
  if (tool.startsWith('model:')) return { step, what: 'answer', detail: value.text }
  if (tool.startsWith('workspace:write')) return { step, what: 'artifact', detail: `${value.path} ${value.sha256}` }
  if (tool !== 'workspace:run') return { step, what: tool, detail: JSON.stringify(value) }
  return { step, what: `output of ${args.path}`, detail: evidence('', value, call) }
}

/** What the model is told of a script, and a reader of the transcript too. */
function evidence(prompt: string, { returncode, stdout, stderr, artifacts = [], missing = [] }: Any, call: string) {
  const outputs = [
    ...artifacts.map(({ path, bytes, storagePath }: Any) => `${path}: ${bytes} bytes, stored as ${storagePath}`),
    ...missing.map(({ path, reason }: Any) => `${path}: not stored, ${reason}`),
  ]
  const kept = outputs.length === 0 ? '' : `\n[OUTPUTS]\n${outputs.join('\n')}`
  const [out, err] = [short(stdout, `/stdout of call ${call}`), short(stderr, `/stderr of call ${call}`)]
  return `${prompt}\n\n[RETURN CODE] ${returncode}\n[STDOUT]\n${out}\n[STDERR]\n${err}${kept}`
}

const shownBytesMax = 64 * 1024

function short(text: string, place: string): string {
  if (Buffer.byteLength(text) <= shownBytesMax) return text
  const head = text.slice(0, shownBytesMax / 8).replace(/[\ud800-\udbff]$/, '')
  const tail = text.slice(-shownBytesMax / 8).replace(/^[\udc00-\udfff]/, '')
  return `${head}\n… ${text.length - head.length - tail.length} characters left out, all of it is ${place} …\n${tail}`
}

const toolExecuted = 'System: Tool executed. Artifacts saved. Output:\n'

function wordsOf({ call, tool, args, value, error }: Call): { role: string; text: string } {
  if (error) return { role: 'system', text: `${tool}: ${error.code} ${error.message}` }
  if (tool.startsWith('model:')) {
    const asked = value.toolCalls.map(({ name, args }: Any) => `${name} ${JSON.stringify(args)}`)
    return { role: 'assistant', text: [value.text, ...asked].filter((part) => part !== '').join('\n') }
  }
  if (tool === 'workspace:run') return { role: 'system', text: evidence('ran', value, call) }
  if (!tool.startsWith('workspace:write')) return { role: 'system', text: `${tool} ${JSON.stringify(value)}` }
  const isOutput = value.path.endsWith('/tool_output.txt')
  return { role: 'system', text: isOutput ? `${toolExecuted}${args.content}` : `wrote ${value.path} ${value.sha256}` }
}

/**
 * What follows from each answer: its files before its script, the script that it named, and the
 * evidence in front of the model at its next turn.
 */
function checkProtocol({ body }: Any, calls: Call[], isDone: boolean): void {
  const { goal, protocol } = body.plan.source
  const models = calls.filter(({ tool }) => tool.startsWith('model:'))
  assert.equal(models[0]?.args.messages[0].text, goal, 'the first request does not begin with the instruction')
  for (const [index, { args, value, step }] of models.entries()) {
    const before = models[index - 1]
    const messages = args.messages as Any[]
    const heard = messages.findLast(({ role }) => role === 'assistant')
    assert.equal(heard?.text, before?.value.text, `step ${step} does not show what the model said before`)
    const acts = calls.filter((call) => call.step === step && !call.tool.startsWith('model:'))
    const next = models[index + 1]?.args.messages.at(-1)?.text as string | undefined
    if (!value || value.toolCalls.length > 0) continue
    if (protocol === 'rebound') checkRebound(value.text, acts, next, isDone)
    else checkGlassBox(value.text, acts, next)
  }
}

/** The last word is the model's own, and the files that it names are those on the ledger. */
function checkResult({ body }: Any, calls: Call[], result: Any, files: Any[]): void {
  const { text } = calls.findLast(({ tool }) => tool.startsWith('model:'))!.value
  if (body.plan.source.protocol === 'tool_code')
    assert.ok(text.includes(result.text), 'the model did not say the final result')
  else {
    const answer = plainAnswer(text)
    const said = answer === null ? result.text : (answer.final_result ?? answer.thought_process)
    assert.equal(result.text, said, 'the model did not say the final result')
  }
  for (const { path, sha256: digest } of result.files)
    assert.equal(digest, files.find((file) => file.path === path)?.sha256, `${path} is not the file of the ledger`)
}

function checkRebound(text: string, acts: Call[], next: string | undefined, isDone: boolean): void {
  const ran = acts.find(({ tool }) => tool === 'workspace:run')
  const answer = plainAnswer(text)
  if (answer === null) return
  const written = acts.filter(({ tool }) => tool === 'workspace:write')
  const isFinal = next === undefined && isDone
  if (ran !== undefined || isFinal) checkArtifacts(answer, written)
  if (ran === undefined) return
  const { target_script: target, continuation_prompt: prompt } = answer.next_action
  assert.equal(ran.args.path, target, 'another script was run than was asked for')
  assert.ok(
    written.every(({ n }) => n < ran.n),
    'a script ran before its files were written',
  )
  if (next !== undefined && ran.value && !ran.value.forbidden)
    assert.equal(next, evidence(prompt, ran.value, ran.call), 'the evidence was not put before the model as it was')
}

function checkArtifacts({ artifacts = [] }: Any, written: Call[]): void {
  for (const { path, content, encoding } of artifacts) {
    const file = written.find(({ args }) => args.path === path)
    assert.equal(file && digestOf(file.args), digestOf({ content, encoding }), `${path} is not on the ledger`)
  }
}

/** Null where the JSON stands among other text: that is not looked into here. */
function plainAnswer(text: string): Any {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function checkGlassBox(text: string, acts: Call[], next: string | undefined): void {
  const [script, ran, output] = acts
  if (ran === undefined) return
  assert.deepEqual(
    acts.map(({ tool }) => tool),
    ['workspace:write_step', 'workspace:run', 'workspace:write_step'],
  )
  assert.ok(text.includes(script!.args.content.trim()), 'another script was saved than the model wrote')
  assert.equal(ran.args.path, script!.value.path, 'another script was run than was saved')
  const { returncode, stdout, stderr } = ran.value ?? { returncode: 'refused', stdout: '', stderr: ran.error.message }
  const less = (stream: string) => stream.replace(/\r?\n$/, '')
  const content = `returncode: ${returncode}\n\n[STDOUT]\n${less(stdout)}\n\n[STDERR]\n${less(stderr)}\n`
  assert.equal(output!.args.content, content, 'the saved output is not what the script printed')
  const shown = short(content, `in ${output!.value.path}`)
  if (next !== undefined) assert.equal(next, `${toolExecuted}${shown}`)
}

function checkTranscript(read: (path: string) => Buffer, session: string, said: SpokenLine[]): void {
  for (const { at, step, role, text } of said) {
    const file = `sessions/${at.slice(0, 10)}/transcript.log`
    const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
    const line = `${at} ${session} ${step} ${role} ${escaped}`
    assert.ok(read(file).toString().split('\n').includes(line), `${file} lacks the line of ${at}`)
  }
}

/** The sessions whose ledger stands in a workspace. */
export function sessionsIn(workspace: string): string[] {
  const names = readdirSync(join(workspace, 'ledger'))
  return names.flatMap((name) => /^session_(.+)\.jsonl$/.exec(name)?.[1] ?? [])
}

if (import.meta.main) {
  const [workspace = '.', session = sessionsIn(workspace)[0] ?? ''] = process.argv.slice(2)
  try {
    for (const { step, what, detail } of auditSession(workspace, session))
      console.log(`${step}  ${what}: ${JSON.stringify(detail).slice(1, -1).slice(0, 120)}`)
  } catch (error) {
    console.error((error as Error).message.split('\n')[0])
    process.exitCode = 7
  }
}
