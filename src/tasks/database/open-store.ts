/** Opens the database that a configuration names: a file of this machine, or a Neo4j server. */
import type { Neo4jAddress } from './neo4j-store.ts'
import { openSqliteGraph } from './sqlite-store.ts'
import type { GraphStore } from './store.ts'

export type GraphAddress = { file: string } | Neo4jAddress

/** What a run is bound to: nothing secret, and no folder of this machine. */
export function graphIdentity(address: GraphAddress): Record<string, string> {
  if ('file' in address) return { driver: 'sqlite' }
  const { url, database } = address
  return { driver: 'neo4j', url, database }
}

/** Neo4j's driver is loaded only where a server is named: nothing else needs it. */
export async function openGraphStore(address: GraphAddress): Promise<GraphStore> {
  if ('file' in address) return openSqliteGraph(address.file)
  const { openNeo4jGraph } = await import('./neo4j-store.ts')
  return openNeo4jGraph(address)
}
