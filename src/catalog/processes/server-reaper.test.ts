/** Tests of what happens to servers when we are killed: nothing of them may stay behind. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { root, temporaryFolder } from '#test'
import { descendantsOf, isAlive, type Process, processOf } from './descendants.ts'
import { endOrphansOf } from './orphan-servers.ts'
import { openServerReaper } from './server-reaper.ts'

const servers = join(root, 'test', 'servers')

/** A process in a group of its own that holds stubborn servers, one of them below a shell. */
async function hold(t: TestContext, owner = 'somebody'): Promise<{ holder: ChildProcess; below: Process[] }> {
  const effects = join(servers, 'effects.ts')
  const env = { STUBBORN: '1', DETACHED: '1' }
  const files = ['a', 'b'].map((name) => join(temporaryFolder(t), name))
  const script = `${process.execPath} ${effects}; true`
  const config = {
    servers: {
      a: { command: process.execPath, args: [effects], env: { ...env, ESTRANGED: files[0] } },
      b: { command: 'sh', args: ['-c', script], env: { ...env, ESTRANGED: files[1] } },
    },
  }
  const args = [join(servers, 'holder.ts'), JSON.stringify(config), temporaryFolder(t), owner]
  const holder = spawn(process.execPath, args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => holder.kill('SIGKILL'))
  const [said] = await once(holder.stdout!, 'data')
  assert.equal(String(said).trim(), 'started')
  const estranged = await Promise.all(files.map(writtenIn))
  // Their parents, which only started them, go at once.
  for (let round = 0; round < 100 && descendantsOf(holder.pid!).length > 6; round++) await pause(20)
  const below = descendantsOf(holder.pid!)
  assert.equal(below.length, 6, 'the guard, a shell, two servers, and what each of them started in another group')
  return { holder, below: [...below, ...estranged.map((pid) => processOf(pid)!)] }
}

/** The number of a process, once it is written there. */
async function writtenIn(file: string): Promise<number> {
  while (!existsSync(file) || readFileSync(file, 'utf8') === '') await pause(20)
  return Number(readFileSync(file, 'utf8'))
}

async function livingAfter(processes: Process[], msMax: number): Promise<number[]> {
  const until = Date.now() + msMax
  while (Date.now() < until && processes.some(isAlive)) await pause(20)
  return processes.filter(isAlive).map(({ pid }) => pid)
}

test('the guard ends stubborn servers, and what they started, when we get SIGKILL', async (t) => {
  const { holder, below } = await hold(t)
  process.kill(holder.pid!, 'SIGKILL')
  assert.deepEqual(await livingAfter(below, 5000), [])
})

test('the guard does so too when our whole process group gets SIGKILL', async (t) => {
  const { holder, below } = await hold(t)
  process.kill(-holder.pid!, 'SIGKILL')
  assert.deepEqual(await livingAfter(below, 5000), [])
})

test('the guard is replaced when it dies, and then still knows every server', async (t) => {
  const { holder, below } = await hold(t)
  const children = below.filter(({ parent }) => parent === holder.pid)
  const guard = children.sort((left, right) => Number(left.started) - Number(right.started) || left.pid - right.pid)[0]!
  process.kill(guard.pid, 'SIGKILL')
  await pause(200)
  process.kill(holder.pid!, 'SIGKILL')
  assert.deepEqual(await livingAfter(below, 5000), [])
})

test('endOrphansOf() ends what is left where the guard was killed with us, and nothing of others', async (t) => {
  const { holder, below } = await hold(t, 'one owner')
  const others = await hold(t, 'another owner')
  const guard = below.find(({ pid }) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('metier-guard'))!
  process.kill(holder.pid!, 'SIGSTOP')
  process.kill(guard.pid, 'SIGKILL')
  process.kill(holder.pid!, 'SIGKILL')
  await pause(200)
  const stubborn = below.filter(isAlive)
  assert.ok(stubborn.length >= 4, 'the servers, and what they started, live on')
  await endOrphansOf('one owner')
  assert.deepEqual(stubborn.filter(isAlive), [])
  assert.deepEqual(
    others.below.filter((each) => !isAlive(each)),
    [],
  )
})

test('openServerReaper() starts nothing until it is needed, and forgets groups that are gone', async () => {
  const before = descendantsOf(process.pid).length
  const guard = openServerReaper()
  assert.equal(descendantsOf(process.pid).length, before)
  const sleeper = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' })
  const other = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' })
  for (const { pid } of [sleeper, other]) {
    guard.input().write(`+ ${pid}\n`)
    guard.remember(pid!)
  }
  guard.forget(other.pid!)
  guard.close()
  const [, signal] = await once(sleeper, 'exit')
  assert.equal(signal, 'SIGKILL')
  assert.equal(other.exitCode ?? other.signalCode, null)
  other.kill()
  await once(other, 'exit')
})
