/** Tools that ask even where their effect would be allowed: by what they say of themselves, or by what they are called. */
import type { Tool } from '#model'

/** Words of a tool's name, by what they do. One list, for every server; `metier policy explain TOOL` tells which word it was. */
export const dangerousWords: Record<string, readonly string[]> = {
  'runs commands': [
    'bash',
    'cmd',
    'command',
    'eval',
    'exec',
    'execute',
    'powershell',
    'sh',
    'shell',
    'spawn',
    'sudo',
    'terminal',
    'zsh',
  ],
  'takes things away': [
    'delete',
    'destroy',
    'drop',
    'erase',
    'kill',
    'purge',
    'remove',
    'rm',
    'rmdir',
    'terminate',
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
 * Why a tool is dangerous; null where it is not. What the configuration classes as `read` never is. A class from the configuration also
 * speaks for a tool that says nothing of itself; a hint that it destroys is believed whoever classed it.
 */
export function dangerOf({ name, annotations, effect, effectFrom }: Judged): string | null {
  const isOurWord = effectFrom === 'configuration'
  if (isOurWord && effect === 'read') return null
  const word = wordOf(name)
  if (word !== null) return word
  if (effect === 'read') return null
  if (annotations.destructiveHint === true) return 'it says that it destroys'
  if (annotations.destructiveHint === undefined && !isOurWord) return 'it does not say that it destroys nothing'
  return null
}

function wordOf(name: string): string | null {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  for (const [what, list] of Object.entries(dangerousWords)) {
    const word = words.find((candidate) => list.includes(candidate))
    if (word !== undefined) return `a name with "${word}" ${what}`
  }
  return null
}
