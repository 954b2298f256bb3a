/** How missions and tasks look at a terminal: rows, a tree, and one task line by line. */
import { bad, faint, good, oneLine, shortId, strong, table, warn } from '#show/cli'
import type { MissionInfo, TaskInfo } from '#verbs'

const marks: Record<string, string> = {
  QUEUED: '·',
  IN_PROGRESS: warn('…'),
  PENDING_VALIDATION: warn('?'),
  VALIDATED: good('✓'),
  DONE: good('✓'),
  FAILED: bad('✗'),
  CANCELED: bad('✗'),
  ACTIVE: warn('…'),
}

const marked = (status: string) => `${marks[status] ?? '·'} ${status}`
const titleOf = ({ name, description }: TaskInfo) => oneLine(name ?? description, 70)

export function missionRows(missions: readonly MissionInfo[]): string {
  return table(
    missions.map(({ id, status, name, tasks }) => [id, marked(status), oneLine(name, 40), countsText(tasks)]),
  )
}

function countsText(tasks: MissionInfo['tasks']): string {
  const counts = Object.entries(tasks).map(([status, count]) => `${count} ${status}`)
  return faint(counts.length === 0 ? 'no tasks' : counts.join(' · '))
}

export function taskRows(tasks: readonly TaskInfo[]): string {
  return table(tasks.map((task) => [task.id, marked(task.status), titleOf(task)]))
}

export function missionTree(mission: MissionInfo, tasks: readonly TaskInfo[]): string {
  const shown = new Set(tasks.map(({ id }) => id))
  // A task whose parent was taken away, or stands behind the limit, is still one of the mission's.
  const children = Map.groupBy(tasks, ({ parentID }) => (shown.has(parentID ?? '') ? parentID : mission.id))
  const lines = [`${strong(oneLine(mission.name))}  ${marked(mission.status)}  ${faint(mission.id)}`]
  const under = (parent: string, indent: string) => {
    const own = children.get(parent) ?? []
    for (const [index, task] of own.entries()) {
      const isLast = index === own.length - 1
      const waits =
        task.dependencyTaskIDs === undefined ? '' : faint(` after ${task.dependencyTaskIDs.map(shortId).join(', ')}`)
      lines.push(
        `${indent}${isLast ? '└─' : '├─'} ${marked(task.status)}  ${titleOf(task)}  ${faint(shortId(task.id))}${waits}`,
      )
      under(task.id, `${indent}${isLast ? '   ' : '│  '}`)
    }
  }
  under(mission.id, '')
  if (tasks.length === 0) lines.push(faint('no tasks'))
  return lines.join('\n')
}

export function taskText(task: TaskInfo): string {
  const { id, name, status, description, ...rest } = task
  const rows = Object.entries(rest).map(([member, value]) => [
    faint(member),
    oneLine(Array.isArray(value) ? value.join(', ') : String(value), 200),
  ])
  const title = name === undefined ? [] : [strong(oneLine(name))]
  return [...title, `${marked(status)}  ${faint(id)}`, oneLine(description, 2000), table(rows)].join('\n')
}
