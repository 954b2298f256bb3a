/**
 * A process that runs a program and kills itself with SIGKILL at a chosen event of its run: before
 * it is on disk, or just after.
 */
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type JsonObject, parseConfig } from '#model'
import { openStore } from '#record'
import { type Death, deadlyStore } from '#test'
import { openVerbs } from '#verbs'

export type Order = Death & { file: string; home: string; code: string; args: JsonObject }

const order = JSON.parse(process.argv[2]!) as Order
const { file, home, code, args } = order
const config = parseConfig({ file, text: readFileSync(file, 'utf8'), home, env: process.env, directory: dirname(file) })
const store = deadlyStore(await openStore({ home }), order)
const verbs = await openVerbs(config, { path: process.env.PATH! }, store)
const caller = { actor: { kind: 'cli' as const, name: 'test' }, waitMs: null }
await verbs.execute({ implementation: { type: 'code', code }, args }, caller)
await verbs.close()
