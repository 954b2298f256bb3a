/**
 * What a catalogue of 50,000 tools of one server costs a command that needs few of them: CPU
 * seconds and the most memory of `metier discover` and `metier call` once the tools are known,
 * against the same with 50 tools in the same run. What the server itself takes is not counted.
 * `node bench/catalogue.ts [--json]`.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { atMost, type Bar, median, preferUs } from './record/bars.ts'

const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
const repeats = 5
const sizes = { few: 50, many: 50_000 }
/** How much more a command may take with a thousand times as many tools. */
const bars = { discover: { cpu: 2.5, memory: 2.5 }, call: { cpu: 2.5, memory: 2.5 } }

type Spent = { cpuSeconds: number; megabytes: number }
type Command = keyof typeof bars
const words: Record<Command, string[]> = {
  discover: ['discover', 'create an invoice'],
  call: ['call', 'many:create_invoice_0', '{"id":"a"}'],
}

/** Written at the end of the process that is measured, of that process alone. */
const report = `process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const spent = { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 }
  process.getBuiltinModule('fs').writeFileSync(process.env.SPENT, JSON.stringify(spent))
})`

function openHome(tools: number) {
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  const [file, changed, spent] = ['metier.json', 'changed', 'spent.json'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const many = {
    command: process.execPath,
    args: [join(root, 'test', 'servers', 'many.ts')],
    env: { TOOLS: String(tools), CHANGED: changed },
  }
  writeFileSync(file, JSON.stringify({ mcpServers: { many }, policy: { permissions: 'privileged' } }))
  const run = async (command: Command): Promise<{ spent: Spent; answer: string }> => {
    const hook = `data:text/javascript,${encodeURIComponent(report)}`
    const args = ['--import', hook, join(root, 'src', 'main.ts'), ...words[command], '--json']
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      METIER_HOME: join(folder, 'home'),
      METIER_CONFIG: file,
      SPENT: spent,
    }
    const how = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
    const ran = await promisify(execFile)(process.execPath, args, how).catch((error) => error as { stdout: string })
    return { spent: JSON.parse(readFileSync(spent, 'utf8')) as Spent, answer: ran.stdout }
  }
  return { run, change: (tool: number) => writeFileSync(changed, String(tool)), folder }
}

async function main(): Promise<void> {
  preferUs()
  const homes = { few: openHome(sizes.few), many: openHome(sizes.many) }
  const results: Bar[] = []
  const first: Record<string, Spent> = {}
  for (const [size, home] of Object.entries(homes)) first[size] = (await home.run('discover')).spent
  for (const command of Object.keys(bars) as Command[]) {
    const spent: Record<keyof typeof homes, Spent[]> = { few: [], many: [] }
    for (let round = 0; round < repeats; round++) {
      for (const size of ['few', 'many'] as const) spent[size].push((await homes[size].run(command)).spent)
    }
    const ratios = (part: keyof Spent) => spent.many.map((each, at) => each[part] / spent.few[at]![part])
    const middle = (part: keyof Spent) => [spent.many, spent.few].map((all) => median(all.map((each) => each[part])))
    const [cpu, cpuFew] = middle('cpuSeconds')
    const [memory, memoryFew] = middle('megabytes')
    const seconds = `${cpu!.toFixed(2)} s against ${cpuFew!.toFixed(2)} s`
    const megabytes = `${memory!.toFixed(0)} MB against ${memoryFew!.toFixed(0)} MB`
    results.push(atMost(bars[command].cpu, `${command}: CPU of 50,000 tools / of 50`, ratios('cpuSeconds'), seconds))
    results.push(atMost(bars[command].memory, `${command}: memory of 50,000 / of 50`, ratios('megabytes'), megabytes))
  }
  homes.many.change(0)
  const isNoticed = (await homes.many.run('call')).answer.includes('"TOOL_CHANGED"')
  for (const { folder } of Object.values(homes)) rmSync(folder, { recursive: true, force: true })
  if (process.argv.includes('--json')) console.log(JSON.stringify({ first, results }))
  else {
    console.log(
      `The first discover, which reads and pins all: ${first.many!.cpuSeconds.toFixed(1)} s, ${first.many!.megabytes.toFixed(0)} MB.`,
    )
    for (const { name, value, least, most, bar, ok, detail } of results) {
      const figures = [value, least, most].map((figure) => figure.toFixed(2).padStart(5)).join(' ')
      console.log(`${ok ? 'ok    ' : 'MISSED'} ${name.padEnd(40)} ${figures}  ${bar}  ${detail}`)
    }
    console.log(`${isNoticed ? 'ok    ' : 'MISSED'} call: one changed tool of 50,000 is refused`)
  }
  if (!isNoticed || results.some(({ ok }) => !ok)) process.exitCode = 1
}

await main()
