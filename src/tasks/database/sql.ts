/** Every statement that the file of the task graph is ever sent, as constants. */
import { completedStatuses } from '#tasks/terms'
import type { TaskQuery } from './store.ts'

export const nodeById = 'SELECT * FROM node WHERE id = :id'

/** Links in the order in which they were made; `position` breaks ties of the clock. */
export const linksOf = `
  SELECT 'out' AS direction, edge.type AS type, edge.created AS created, edge.position AS position, node.id, node.kind, node.name, node.status
    FROM edge JOIN node ON node.id = edge.target WHERE edge.source = :id
  UNION ALL
  SELECT 'in', edge.type, edge.created, edge.position, node.id, node.kind, node.name, node.status
    FROM edge JOIN node ON node.id = edge.source WHERE edge.target = :id
  ORDER BY created, position`

export const linksOfEach = `
  SELECT asked.value AS of, 'out' AS direction, edge.type AS type, edge.created AS created, edge.position AS position, node.id, node.kind, node.name, node.status
    FROM json_each(:ids) AS asked JOIN edge ON edge.source = asked.value JOIN node ON node.id = edge.target
  UNION ALL
  SELECT asked.value, 'in', edge.type, edge.created, edge.position, node.id, node.kind, node.name, node.status
    FROM json_each(:ids) AS asked JOIN edge ON edge.target = asked.value JOIN node ON node.id = edge.source
  ORDER BY created, position`

export const tasksBy = ({ ready, runs }: TaskQuery) => (ready ? readyTasks : runs ? tasksByAge : tasksMade)

const tasksByAge = `
  SELECT * FROM node WHERE kind = 'Task'
    AND (:mission IS NULL OR mission = :mission) AND (:status IS NULL OR status = :status)
    AND :capabilities IS NULL
  ORDER BY created, id LIMIT :limit OFFSET :offset`

const tasksMade = tasksByAge.replace('ORDER BY', 'AND run IS NULL ORDER BY')

const completed = completedStatuses.map((status) => `'${status}'`).join(', ')

/** By the index that has the queue in its order: the planner would sort all that is queued. */
const readyTasks = `
  SELECT * FROM node AS task INDEXED BY node_queued WHERE kind = 'Task' AND status = 'QUEUED' AND run IS NULL
    AND (:mission IS NULL OR mission = :mission) AND (:status IS NULL OR status = :status)
    AND NOT EXISTS (SELECT 1 FROM edge WHERE source = task.id AND type = 'ASSIGNED_TO')
    AND NOT EXISTS (SELECT 1 FROM edge JOIN node AS needed ON needed.id = edge.target
      WHERE edge.source = task.id AND edge.type = 'DEPENDS_ON' AND needed.status NOT IN (${completed}))
    AND (:capabilities IS NULL OR NOT EXISTS (SELECT 1 FROM edge JOIN node AS needed ON needed.id = edge.target
      WHERE edge.source = task.id AND edge.type = 'REQUIRES_CAPABILITY'
        AND needed.name NOT IN (SELECT value FROM json_each(:capabilities))))
  ORDER BY coalesce(priority, 0) DESC, created, id LIMIT :limit OFFSET :offset`

export const missions = `
  SELECT * FROM node WHERE kind = 'Mission' AND run IS NULL AND (:status IS NULL OR status = :status)
  ORDER BY created, id LIMIT :limit OFFSET :offset`

export const missionsOfRuns = missions.replace('run IS NULL', 'run IS NOT NULL')

/** An id is of hexadecimal digits and hyphens: all that begin with a text stand before its `g`. */
export const newest = `
  SELECT id FROM node WHERE kind = :kind AND id >= :prefix AND id < :prefix || 'g' AND (run IS NULL OR :prefix <> '')
  ORDER BY created DESC, id LIMIT :limit`

export const taskCounts = `
  SELECT mission AS missionID, status, count(*) AS count FROM node
    WHERE kind = 'Task' AND mission IN (SELECT value FROM json_each(:missions)) GROUP BY mission, status`

/** UNION drops what was reached before, so every node is visited once. */
export const reaches = `
  WITH RECURSIVE reached(id) AS (
    VALUES (:from) UNION SELECT edge.target FROM edge JOIN reached ON edge.source = reached.id WHERE edge.type = :type)
  SELECT 1 FROM reached WHERE id = :to LIMIT 1`

export const insertNode = `
  INSERT INTO node (id, kind, name, status, mission, priority, run, created, updated, properties)
    VALUES (:id, :kind, :name, :status, :mission, :priority, :run, :created, :updated, :properties)`

export const keepNode = `${insertNode} ON CONFLICT (id) DO NOTHING`

export const mergeNode = `${insertNode} ON CONFLICT (id) DO UPDATE
  SET name = :name, status = :status, updated = :updated, properties = :properties WHERE run = :run`

export const updateNode = `
  UPDATE node SET name = :name, status = :status, priority = :priority, updated = :updated, properties = :properties
    WHERE id = :id`

export const insertLink = `
  INSERT INTO edge (source, type, target, created, position)
    VALUES (:from, :type, :to, :at, (SELECT coalesce(max(position), 0) + 1 FROM edge))
    ON CONFLICT (source, type, target) DO NOTHING`

export const mergeLink = `
  INSERT INTO edge (source, type, target, created, position)
    SELECT :from, :type, :to, :at, (SELECT coalesce(max(position), 0) + 1 FROM edge)
      WHERE EXISTS (SELECT 1 FROM node WHERE id = :from) AND EXISTS (SELECT 1 FROM node WHERE id = :to)
    ON CONFLICT (source, type, target) DO NOTHING`

export const removeLinksOfRun = `
  DELETE FROM edge WHERE source IN (SELECT id FROM node WHERE run = :of)
    OR target IN (SELECT id FROM node WHERE run = :of)`

export const removeLinksOfRuns = removeLinksOfRun.replaceAll('run = :of', 'run IS NOT NULL')

export const projected = 'SELECT seq, digest FROM projection WHERE home = :home'

export const setProjected = `
  INSERT INTO projection (home, seq, digest) VALUES (:home, :seq, :digest)
    ON CONFLICT (home) DO UPDATE SET seq = :seq, digest = :digest`

export const deleteLink = 'DELETE FROM edge WHERE source = :from AND type = :type AND target = :to'

export const insertReceipt = 'INSERT INTO receipt (key, answer, at) VALUES (:key, :answer, :at)'
