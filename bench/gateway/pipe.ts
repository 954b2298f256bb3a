/**
 * The least that anything durable in between can cost: it copies bytes, reads none of them, and
 * syncs one page to disk before and after.
 */
import { spawn } from 'node:child_process'
import { openJournal } from './journal.ts'

const [file, upstream] = process.argv.slice(2) as [string, string]
const commit = openJournal(file)
const child = spawn(process.execPath, [upstream], { stdio: ['pipe', 'pipe', 'ignore'] })

process.stdin.on('data', (bytes) => {
  commit()
  child.stdin.write(bytes)
})
child.stdout.on('data', (bytes) => {
  commit()
  process.stdout.write(bytes)
})
process.stdin.on('end', () => child.stdin.end())
