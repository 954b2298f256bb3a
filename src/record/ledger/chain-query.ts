/** How a chain is read: from its head backwards, each event naming the one before it. */
import { AppError } from '#model'

/**
 * A query for columns of the events of run ?1 after number ?2, the newest first. The number counts
 * down on its own, so that it ends whatever the links say; whether they led to all the events is
 * for the caller to see.
 */
export function chainQuery(columns: string[]): string {
  const values = columns.map((column) => `event.${column}`).join(', ')
  return `
    WITH RECURSIVE back (place, link, ${columns.join(', ')}) AS (
      SELECT run.n, previous, ${values} FROM run JOIN event USING (seq) WHERE run.run = ?1 AND run.n > ?2
      UNION ALL
      SELECT place - 1, previous, ${values} FROM back JOIN event ON event.seq = link AND event.run = ?1
      WHERE place - 1 > ?2
    )
    SELECT ${columns.join(', ')} FROM back`
}

/**
 * The first event of each run in the list ?1, however many they are; its lines are read of no other
 * event.
 */
export const firstEvents = `
  WITH RECURSIVE back (place, link, seq) AS (
    SELECT run.n, previous, event.seq FROM run JOIN event USING (seq)
    WHERE run.run IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT place - 1, previous, event.seq FROM back JOIN event ON event.seq = link WHERE place > 1
  )
  SELECT line FROM back JOIN event USING (seq) WHERE place = 1 AND type = 'run.started'`

export function brokenChain(run: string, n: number): AppError {
  const next = 'Run "metier audit verify"'
  return new AppError('LEDGER_BROKEN', `Cannot read run ${run}: its event ${n} is not where it should be. ${next}`, {
    run,
    n,
  })
}
