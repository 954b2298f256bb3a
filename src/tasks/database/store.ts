/**
 * The seam of the task graph: what a database must offer. Everything that is a rule of the graph
 * stands above it, once, so that SQLite and Neo4j cannot differ in what they allow; a driver only
 * stores, finds and locks.
 */
import type { GraphNode, Link, NodeKind, ProjectedLink, RelationshipType } from '#tasks/terms'

export type TaskQuery = {
  missionID?: string
  status?: string
  /**
   * Only tasks that may begin: QUEUED, unassigned, every dependency DONE or VALIDATED. With
   * `capabilities` also: nothing required that is not among these names.
   */
  ready?: boolean
  capabilities?: readonly string[]
  /** Those that show runs too; ready tasks are never among them. */
  runs?: boolean
  limit: number
  offset: number
}

/** Up to which event of a record the graph shows its runs, and the digest of that event's line. */
export type Position = { seq: number; digest: string }

export type GraphReader = {
  node(id: string): Promise<GraphNode | null>
  /** Every relationship of a node, in both directions, in the order in which they were made. */
  links(id: string): Promise<Link[]>
  /** The same of many nodes at once, by id; a node without links is left out. */
  linksOfEach(ids: readonly string[]): Promise<ReadonlyMap<string, Link[]>>
  /** Ready tasks by priority descending, others by age; ties by creation, then id. */
  tasks(query: TaskQuery): Promise<GraphNode[]>
  /** Either those that were created, or those that show runs. */
  missions(query: { status?: string; runs: boolean; limit: number; offset: number }): Promise<GraphNode[]>
  /**
   * Ids of one kind that begin with a text, the newest first; without a text none that shows a run.
   */
  newest(kind: NodeKind, prefix: string, limit: number): Promise<string[]>
  /** How many tasks of each mission have each status. */
  taskCounts(missionIDs: readonly string[]): Promise<{ missionID: string; status: string; count: number }[]>
  /** Whether `to` can be reached from `from` over relationships of this type, each node once. */
  reaches(type: RelationshipType, from: string, to: string): Promise<boolean>
  /** How far the runs of a home are in the graph. */
  projected(home: string): Promise<Position | null>
}

export type GraphWriter = GraphReader & {
  /**
   * The answer of a write that was made under this key, or null, and then the key is held until the
   * transaction ends: a try whose connection was lost may still be under way in the database.
   */
  claimReceipt(key: string): Promise<string | null>
  /**
   * Holds nodes against other writers until the transaction ends. What decides about a write is
   * read after this: isolation may be read committed.
   */
  lock(ids: readonly string[]): Promise<void>
  /** The same for all relationships of one type, for rules that no single node can hold. */
  lockType(type: RelationshipType): Promise<void>
  createNode(node: GraphNode): Promise<void>
  updateNode(node: GraphNode): Promise<void>
  /** False where it was there already. */
  addLink(from: string, type: RelationshipType, to: string, at: string): Promise<boolean>
  /** False where there was none. */
  removeLink(from: string, type: RelationshipType, to: string): Promise<boolean>
  putReceipt(key: string, answer: string, at: string): Promise<void>
  /**
   * The same as `projected`, held against other processes of that home until the transaction ends.
   */
  lockProjected(home: string): Promise<Position | null>
  setProjected(home: string, position: Position): Promise<void>
  /**
   * Creates nodes or puts them in place of what was there; an artifact that is there stays as it
   * is.
   */
  mergeNodes(nodes: readonly GraphNode[]): Promise<void>
  /** Those whose ends are there; a link that exists stays as it is. */
  mergeLinks(links: readonly ProjectedLink[]): Promise<void>
  /** Removes what shows this run, or any run of this home. */
  removeRun(run: string): Promise<void>
  removeProjected(home: string): Promise<void>
}

/**
 * One database. `write` runs `work` in one transaction and may run it again after a conflict, so it
 * must touch nothing but its writer. What a writer is asked without waiting is done in the order in
 * which it was asked: several steps cost one round trip to a server. Failures of the database are
 * AppErrors with NEO4J_… codes, whatever the driver.
 */
export type GraphStore = {
  read<T>(work: (reader: GraphReader) => Promise<T>, signal: AbortSignal): Promise<T>
  write<T>(work: (writer: GraphWriter) => Promise<T>, signal: AbortSignal): Promise<T>
  close(): Promise<void>
}

/** Rows about several nodes, in their order, by the node that each is `of`. */
export function byNode<Row extends { of: string }>(
  rows: readonly Row[],
  toLink: (row: Row) => Link,
): ReadonlyMap<string, Link[]> {
  return new Map([...Map.groupBy(rows, ({ of }) => of)].map(([id, own]) => [id, own.map(toLink)]))
}
