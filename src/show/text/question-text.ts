/** A question as a person reads it at a terminal: whole, or on one line. */
import { escapeInvisible } from '#model'
import { counted, faint, oneLine, strong, warn } from '#show/cli'
import { adviceLines, argumentsText, mayCallLines, originLines, type Question } from '#verbs'

export function questionText(question: Question): string {
  const { run, call, tool, effect, why, url, expiresAt, intent, command } = question
  const minutes = Math.max(0, Math.round((Date.parse(expiresAt) - Date.now()) / 60_000))
  return [
    `${warn('?')} ${strong(escapeInvisible(tool))} ${argumentsText(question).text}`,
    ...originLines(question).map((line) => faint(`    ${line}`)),
    `  asked because: ${escapeInvisible(why)}, effect: ${effect ?? 'unknown'}`,
    ...(intent ? [`  the run is for: ${oneLine(intent)}`] : []),
    ...mayCallLines(question).map((line) => `  the plan of its run ${line}`),
    ...adviceLines(question).map((line) => faint(`  ${line}`)),
    `  run ${run}, call ${call}; it expires in ${counted(minutes, 'minute')}`,
    `  ${command}   |   ${command.replace('approve', 'deny')}`,
    ...(url === null ? [] : [`  ${url}`]),
  ].join('\n')
}

/** For a terminal that shows other things too. */
export function questionLine({ tool, args, command, url }: Question): string {
  const where = url === null ? command : `${command}  or  ${url}`
  return `${warn('?')} ${strong(escapeInvisible(tool))} ${oneLine(JSON.stringify(args))} waits for an answer: ${where}`
}
