/** Reads where missions and tasks are kept: in a file of the home, or in a Neo4j server. */
import type { Config } from './config.ts'
import type { Fields } from './config-fields.ts'
import { collectSecrets, type Expansion, expand } from './variables.ts'

/** As Neo4j's driver takes them; `+s` is encrypted, `+ssc` with a self-signed certificate. */
const scheme = /^(?:neo4j|bolt)(?:\+s|\+ssc)?:\/\//

/** Any of them means a server; without one it is the file of the home. */
const serverFields = ['url', 'user', 'password', 'database']

export function readTaskGraph(expansion: Expansion, root: Fields): Pick<Config, 'taskGraph' | 'projectRuns'> {
  if (!root.has('taskGraph') || root.values.taskGraph === 'sqlite') {
    root.ignore('taskGraph')
    return { taskGraph: 'sqlite', projectRuns: false }
  }
  const fields = root.section('taskGraph')
  const projectRuns = fields.boolean('project', false)
  if (serverFields.every((name) => !fields.has(name))) {
    fields.only(['project'])
    return { taskGraph: 'sqlite', projectRuns }
  }
  const text = (name: string, byDefault?: string) => expand(expansion, fields.string(name, byDefault))
  const address = {
    url: text('url'),
    user: text('user', 'neo4j'),
    password: text('password'),
    database: text('database', 'neo4j'),
  }
  collectSecrets(expansion, [['password', address.password]])
  if (fields.has('url') && (!scheme.test(address.url) || !URL.canParse(address.url)))
    fields.report('url', 'something else', 'an address that begins with neo4j:// or bolt:// (or +s, +ssc)')
  fields.only([...serverFields, 'project'])
  return { taskGraph: address, projectRuns }
}
