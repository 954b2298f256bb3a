/**
 * The single values in a JSON value, and where a value stands in another one; both within bounds.
 */
import { escapePointerKey, type Json, limits } from '#model'

type Leaf = { path: string; value: Json }

/** Texts, numbers, truths and nulls, and what is empty, each with its JSON Pointer. */
export function leavesOf(root: Json, most: number = limits.provenanceLeavesMax): Leaf[] {
  const found: Leaf[] = []
  visit(root, '', (path, value, isLeaf) => {
    if (isLeaf) found.push({ path, value })
    return found.length < most
  })
  return found
}

/**
 * Pointers to values equal to `value`; in a pattern `*` is any one key, and without a pattern every
 * place is looked at.
 */
export function pointersTo(root: Json, value: Json, pattern: string | null): string[] {
  const found: string[] = []
  const wanted = JSON.stringify(value)
  const parts = pattern?.split('/')
  visit(root, '', (path, here) => {
    if ((parts === undefined || fits(path, parts)) && isSame(here, value, wanted)) found.push(path)
    return found.length === 0
  })
  return found
}

function isSame(here: Json, value: Json, wanted: string): boolean {
  if (typeof here !== 'object' || here === null) return here === value
  return typeof value === 'object' && value !== null && JSON.stringify(here) === wanted
}

function fits(path: string, parts: string[]): boolean {
  const keys = path.split('/')
  return keys.length === parts.length && keys.every((key, index) => parts[index] === '*' || parts[index] === key)
}

/** Depth first, until `look` says that it is enough or the bound is reached. */
function visit(root: Json, at: string, look: (path: string, value: Json, isLeaf: boolean) => boolean): void {
  const stack: [string, Json][] = [[at, root]]
  for (let steps = 0; stack.length > 0 && steps < limits.provenanceStepsMax; steps++) {
    const [path, value] = stack.pop()!
    const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
    if (!look(path, value, members.length === 0)) return
    for (const [key, member] of members.slice(0, limits.provenanceStepsMax).reverse()) {
      stack.push([`${path}/${escapePointerKey(key)}`, member])
    }
  }
}
