/**
 * What no rule with patterns for arguments can see through, as `policy explain` names it and
 * docs/policy.md explains it.
 */
import type { PolicyRule } from '#model'

export const notCovered = [
  'symbolic and hard links, mounts and other names of a file',
  'relative paths, "~" and variables',
  'names that a server gives to places and parameters, and arguments that are left out',
  'names of hosts that lead to the same machine, and redirects',
  'other schemes and addresses without one',
  'letters of other scripts that look alike',
  'other encodings than percent-encoding',
  'texts that a shell, a database or a program reads',
  'what several arguments say together',
  'short names, streams and endings of Windows',
] as const

/** Whether a rule that denies or asks compares arguments of such a tool. */
export function comparesArguments(rules: readonly PolicyRule[]): boolean {
  return rules.some(({ args = {}, then }) => then !== 'allow' && Object.keys(args).length > 0)
}
