import { openStore } from '#record'
import { mkdtempSync, openSync, writeSync, fdatasyncSync } from 'node:fs'
import { newId } from '#model'
const dir = mkdtempSync('/tmp/rec-')
const store = await openStore({ home: dir + '/h' })
const started = { intent: 'hi', mode: 'run', plan: { kind: 'code', source: 'x', digest: '' }, args: null, actor: { kind: 'cli', name: 'me' }, permissions: 'standard', budget: { calls: 1, wallMs: 1, bytes: 1 }, seed: '00', engine: { name: '', version: '', digest: '' }, servers: {}, isolation: null } as const
const chain = store.startRun(newId(), started); await chain.durable()
const fd = openSync(dir + '/f', 'a')
const med = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]!
const pad = Number(process.argv[2] ?? 200)
const body = { call: '1', attempt: 1, outcome: 'answered', ok: true, value: { a: 'x'.repeat(pad) }, ms: 3, by: 'upstream' } as const
const line = JSON.stringify({ run: chain.run, n: 1, at: new Date().toISOString(), type: 'call.resolved', body }) + '\n'
const a: number[] = [], b: number[] = []
for (let i = 0; i < 600; i++) {
  let t = performance.now(); writeSync(fd, line); fdatasyncSync(fd); a.push(performance.now() - t)
  t = performance.now(); chain.append('call.resolved', body); await chain.durable(); b.push(performance.now() - t)
}
console.log('single file', med(a), 'chain', med(b), med(b) / med(a))
const c: number[] = [], d: number[] = []
for (let i = 0; i < 40; i++) {
  let t = performance.now(); writeSync(fd, line.repeat(1000)); fdatasyncSync(fd); c.push(performance.now() - t)
  t = performance.now(); for (let j = 0; j < 1000; j++) chain.append('call.resolved', body); const m = performance.now() - t; await chain.durable(); d.push(performance.now() - t); if (i === 39) console.log('main part', m)
}
console.log('batch file', med(c), 'chain', med(d), med(d) / med(c))
await store.close()
