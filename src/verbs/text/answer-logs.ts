/** The last lines that a program printed, bounded for an answer. */
import { type LogLine, limits } from '#model'

/** Newest lines are kept first; what was left out is counted in the first line. */
export function answerLogs(logs: readonly LogLine[]): string[] {
  const kept: string[] = []
  let room: number = limits.answerLogCharactersMax
  for (const line of logs.toReversed()) {
    const text = lineText(line)
    if (kept.length === limits.answerLogLinesMax || (kept.length > 0 && text.length > room)) break
    kept.unshift(text.length <= room ? text : `${text.slice(0, room)}…`)
    room -= text.length
  }
  const earlier = logs.length - kept.length
  return earlier === 0 ? kept : [`… ${earlier} earlier: "metier run show"`, ...kept]
}

/** A warning or an error says that it is one. */
export function lineText({ level, text }: LogLine): string {
  return level === 'warn' || level === 'error' ? `${level}: ${text}` : text
}
