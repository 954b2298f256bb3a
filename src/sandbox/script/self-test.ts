/**
 * Tries a box out before it is trusted: each wall is run against, and what was not seen to hold is
 * not promised.
 */
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { limits, toAppError } from '#model'
import type { Driver, End } from '#sandbox/script-box'
import type { BoxFactory } from './box-factory.ts'
import { environmentOf } from './environment.ts'

type SelfTest = {
  /** What is open that should be closed; empty: the box holds. */
  faults: string[]
  /** What works less well than elsewhere. */
  weaknesses: string[]
}

export async function selfTest(factory: BoxFactory, driver: Driver): Promise<SelfTest> {
  try {
    const seen = await lookAround(factory, driver)
    if (seen.faults.length > 0) return seen
    const faults = [...(await tryMemory(factory, driver)), ...(await tryKill(factory, driver))]
    return { faults, weaknesses: seen.weaknesses }
  } catch (thrown) {
    return { faults: [toAppError(thrown).message], weaknesses: [] }
  }
}

/**
 * Every line that a box prints here names a wall that does not hold. The tasks come last, and
 * outlive the count: after them nothing starts.
 */
const probe = ({ port, files, hasFilter }: { port: number; files: string[]; hasFilter: boolean }) => `
say() { echo "fault: $1"; }
echo 'alive'
ls / >/dev/null 2>&1 || echo 'weakness: coreutils fail (ls); upgrade the runtime'
for p in / /usr /usr/local /etc /inputs /outputs /dev /box; do (: >"$p/.probe") 2>/dev/null && say "it writes to $p"; done
(: >>/inputs/probe) 2>/dev/null && say 'it changes its inputs'
[ "$(cat /inputs/probe 2>&1)" = probe ] || say 'it does not see inputs that come late'
(: >/tmp/probe) 2>/dev/null || say 'it cannot write to /tmp'
(exec 5<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && say 'it reaches a port of the host'
for p in ${files.map((file) => `'${file.replaceAll("'", `'\\''`)}'`).join(' ')}; do [ -e "$p" ] && say "it sees $p"; done
[ "$UID" -ge 65534 ] || say "it is user $UID"
while read -r k v; do case $k in
  CapEff:|CapBnd:) [ -z "\${v//0/}" ] || say "it has capabilities ($k $v)";;
  NoNewPrivs:) [ "$v" = 1 ] || say 'it can gain privileges';;
  Seccomp:) [ "$v" = 2 ] || ${hasFilter ? "say 'no filter of system calls holds'" : ':'};;
esac; done </proc/self/status
for f in /proc/$$/fd/*; do case \${f##*/} in 0|1|2|255) ;; *) [ -L "$f" ] && say "it holds descriptor \${f##*/}";; esac; done
while IFS= read -r -d '' v; do echo "variable: \${v%%=*}"; done </proc/1/environ
n=$(sh -c 'i=0; while [ $i -lt 300 ]; do sleep 60 >/dev/null & i=$((i+1)); echo $i; done' 2>/dev/null | tail -n 1)
[ "$n" -le ${limits.scriptTasksMax} ] || say "it has $n tasks"
`

async function lookAround(factory: BoxFactory, driver: Driver): Promise<SelfTest> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as { port: number }
    const files = [factory.folder, homedir()].filter((path) => path !== '/')
    const end = await run(factory, driver, probe({ port, files, hasFilter: driver.layers.includes('seccomp') }))
    const lines = end.stdout.text().split('\n')
    const said = (kind: string) =>
      lines.filter((line) => line.startsWith(`${kind}: `)).map((line) => line.slice(kind.length + 2))
    const expected = Object.keys(environmentOf({ interpreter: 'bash', outbound: false, goRoot: null }))
    const strange = said('variable').filter((name) => ![...expected, 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name))
    const silent =
      end.exitCode === 0 && lines[0] === 'alive' ? [] : [`it did not come to its end: ${end.stderr.text(500)}`]
    const leaks = strange.map((name) => `it sees the variable ${name}`)
    return { faults: [...silent, ...said('fault'), ...leaks], weaknesses: said('weakness') }
  } finally {
    server.close()
  }
}

/**
 * Asks for three times what there is and then for nothing more: it may be stopped or told no, but
 * it must not go on.
 */
async function tryMemory(factory: BoxFactory, driver: Driver): Promise<string[]> {
  const script = `head -c -${3 * limits.scriptMemoryBytesMax} /dev/zero >/dev/null`
  const end = await run(factory, driver, script, 3 * limits.scriptProbeMsMax)
  return end.stopped === 'timeout' ? ['its memory has no bound'] : []
}

async function tryKill(factory: BoxFactory, driver: Driver): Promise<string[]> {
  const end = await run(factory, driver, 'trap "" TERM INT HUP; while :; do :; done', 300)
  return end.stopped === 'timeout' && end.ms < limits.scriptBoxEndMsMax ? [] : ['it cannot be stopped']
}

async function run(
  factory: BoxFactory,
  driver: Driver,
  script: string,
  timeoutMs: number = limits.scriptProbeMsMax,
): Promise<End> {
  const box = await factory.open(driver, 'bash')
  const inputs = join(box.plan.folder, 'inputs')
  // Writable for every user: what keeps them from being changed must be the box.
  await writeFile(join(inputs, 'probe'), 'probe')
  await chmod(join(inputs, 'probe'), 0o666)
  await chmod(inputs, 0o777)
  const end = await box.run(script, timeoutMs)
  await box.gone
  return end
}
