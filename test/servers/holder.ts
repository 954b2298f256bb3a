/**
 * A process for tests to kill: it opens a catalogue with the servers named as JSON, starts them,
 * says so, and waits.
 */
import { openCatalog } from '#catalog'
import { parseConfig } from '#model'

const [text = '{}', folder = '.', owner = 'nobody'] = process.argv.slice(2)
const { servers } = parseConfig({ file: null, text, home: folder, env: {}, directory: folder })
const catalog = openCatalog({ servers, folder, process: owner, baseEnv: { PATH: process.env.PATH! } })
const { problems } = await catalog.tools({ refresh: true })
console.log(problems.length === 0 ? 'started' : String(problems[0]!.error))
setInterval(() => {}, 1000)
