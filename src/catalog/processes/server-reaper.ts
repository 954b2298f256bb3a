/**
 * One small process that outlives us by a moment: when we end, however we end, it ends every server
 * that we started.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { reaperName } from './orphan-servers.ts'
import { firstMark } from './process-marks.ts'

/**
 * Keeps the list of process groups that it reads from its input; at the end of that input, which
 * comes when we are gone, it kills them, with all that is below them or carries their marks, until
 * there is no more to be found: some may have been started meanwhile. It stands in a group of its
 * own too, so that killing ours does not stop it.
 */
const guardScript = `
trap '' HUP INT TERM
first=$2
groups=' '
while read -r sign group; do
  case $sign in
    +) groups="$groups$group " ;;
    -) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
set -- $groups
[ $# -gt 0 ] || exit 0
marks=
for group in $groups; do marks="$marks|$((first + group))"; done
ended=
for round in 1 2 3 4 5 6 7 8; do
  tree=$groups
  for file in $(grep -lE "^Max file locks +(\${marks#|}) " /proc/[0-9]*/limits); do
    file=\${file#/proc/}
    tree="$tree\${file%/limits} "
  done
  known=
  while [ "$tree" != "$known" ]; do
    known=$tree
    for stat in /proc/[0-9]*/stat; do
      read -r line <"$stat" || continue
      pid=\${line%% *}
      set -- \${line##*) }
      case $tree in *" $pid "*) continue ;; *" $2 "*) tree="$tree$pid " ;; esac
    done
  done
  [ "$tree" != "$ended" ] || break
  for group in $groups; do kill -s KILL -- "-$group"; done
  for pid in $tree; do kill -s KILL "$pid"; done
  ended=$tree
done`

/**
 * Runs before each server and becomes it: it enters its own group into the guard's list first, so
 * that there is no moment in which the server lives and the guard does not know it, and takes its
 * mark, for which shells have two names. What a shell adds to the environment, and the
 * configuration does not name, is taken out again; bash adds one more as it leaves.
 */
export function enterScript(env: Record<string, string>, first: number): string {
  const added = ['PWD', 'OLDPWD', 'SHLVL', '_'].filter((name) => !Object.hasOwn(env, name))
  return `
echo "+ $$" >&3
ulimit -w $((${first} + $$)) 2>/dev/null || ulimit -x $((${first} + $$)) 2>/dev/null
unset ${added.join(' ')}
case $BASH_VERSION in
  '') exec 3>&- "$@" ;;
  *) exec 3>&- env -u SHLVL "$@" ;;
esac`
}

export type ServerReaper = {
  /** The mark of a server is this and the number of its group together. */
  firstMark: number
  /** What a new server gets as its descriptor 3, for enterScript. */
  input(): Socket
  /**
   * A server runs in this group; it has entered itself, this is for a guard that has to be started
   * again.
   */
  remember(group: number): void
  /** The group is empty: its number may be given to others. */
  forget(group: number): void
  close(): void
}

/** `owner` is the process of ours that it works for, as others know it. */
export function openServerReaper(owner = 'nobody'): ServerReaper {
  const first = firstMark(owner)
  const groups = new Set<number>()
  let process: ChildProcess | null = null
  let closed = false
  const start = (): ChildProcess => {
    const child = spawn('/bin/sh', ['-c', guardScript, ...reaperName(owner), String(first)], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      env: {},
    })
    const input = child.stdin as Socket
    child.unref()
    input.unref()
    input.on('error', () => {})
    for (const group of groups) input.write(`+ ${group}\n`)
    child.on('error', () => {})
    child.on('exit', () => {
      if (process === child) process = null
      if (!closed && groups.size > 0) process = start()
    })
    return child
  }
  return {
    firstMark: first,
    input() {
      process ??= start()
      return process.stdin as Socket
    },
    remember(group) {
      groups.add(group)
    },
    forget(group) {
      if (groups.delete(group)) process?.stdin?.write(`- ${group}\n`)
    },
    close() {
      closed = true
      process?.stdin?.end()
    },
  }
}
