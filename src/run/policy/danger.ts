/**
 * Tools that ask even where their effect would be allowed: by what they say of themselves, or by
 * what they are called.
 */
import { effectUnknown, isReadOnly, type Tool } from '#model'

/**
 * Words of a tool's name, by what they do. One list, for every server; `metier policy explain TOOL`
 * tells which word it was.
 */
const dangerousWords: Record<string, readonly string[]> = {
  'runs commands': [
    'bash',
    'cmd',
    'command',
    'eval',
    'exec',
    'execute',
    'popen',
    'powershell',
    'pwsh',
    'sh',
    'shell',
    'spawn',
    'ssh',
    'subprocess',
    'sudo',
    'terminal',
    'zsh',
  ],
  'takes things away': [
    'del',
    'delete',
    'destroy',
    'drop',
    'erase',
    'kill',
    'purge',
    'reboot',
    'remove',
    'rm',
    'rmdir',
    'shutdown',
    'terminate',
    'trash',
    'truncate',
    'uninstall',
    'unlink',
    'wipe',
  ],
  'undoes work': ['overwrite', 'reset', 'revert', 'rollback'],
  'makes things public': ['deploy', 'publish', 'push'],
  'moves money': [
    'buy',
    'charge',
    'checkout',
    'pay',
    'payment',
    'payout',
    'purchase',
    'refund',
    'transfer',
    'withdraw',
  ],
}

type Judged = Pick<Tool, 'name' | 'annotations' | 'effect' | 'effectFrom'>

/**
 * Why a tool is dangerous; null where it is not, and of a built-in tool, whose class is ours. What
 * the configuration classes as `read` never is. A class from the configuration also speaks for a
 * tool that says nothing of itself; a hint that it destroys counts, wherever its class is from.
 */
export function dangerOf({ name, annotations, effect, effectFrom }: Judged): string | null {
  if (effectFrom === 'built-in') return null
  const isOurWord = effectFrom === 'configuration'
  if (isOurWord && isReadOnly(effect)) return null
  const word = dangerousWordIn(name)
  if (word !== null) return word
  if (isReadOnly(effect)) return null
  if (annotations.destructiveHint === true) return 'it says that it destroys'
  if (annotations.destructiveHint === undefined && !isOurWord) return effectUnknown
  return null
}

/**
 * However they are written: `deleteFile`, `HTTPDelete`, `delete-file`, `DELETE_FILE`, `delete2`.
 */
export function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])|([A-Z])([A-Z][a-z])/g, '$1$3 $2$4')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean)
}

export function dangerousWordIn(name: string): string | null {
  const words = wordsOf(name)
  for (const [what, list] of Object.entries(dangerousWords)) {
    const word = words.find((candidate) => list.includes(candidate))
    if (word !== undefined) return `a name with "${word}" ${what}`
  }
  return null
}
