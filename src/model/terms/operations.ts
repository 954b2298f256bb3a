/**
 * The pure operations of the language: what a program does between its calls, under the names that
 * the record and a graph use.
 */

/** What an operation belongs to: methods of values first, then functions of a global object. */
export type OperationOwner = 'array' | 'string' | 'number' | 'Array' | 'Object' | 'Math' | 'JSON' | 'Number' | 'String'

const names: Record<OperationOwner, string> = {
  array:
    'at concat every filter find findIndex findLast findLastIndex flat flatMap forEach includes indexOf join lastIndexOf map reduce reduceRight reverse slice some sort toReversed toSorted toSpliced with',
  string:
    'at charAt charCodeAt codePointAt endsWith includes indexOf lastIndexOf localeCompare match matchAll normalize padEnd padStart repeat replace replaceAll search slice split startsWith substr substring toLowerCase toUpperCase trim trimEnd trimStart',
  number: 'toFixed toPrecision',
  Array: 'from isArray of',
  Object: 'assign entries fromEntries groupBy hasOwn is keys values',
  Math: 'abs acos asin atan atan2 cbrt ceil cos exp floor hypot log log10 log1p log2 max min pow round sign sin sqrt tan tanh trunc',
  JSON: 'parse stringify',
  Number: 'isFinite isInteger isNaN isSafeInteger parseFloat parseInt',
  String: 'fromCharCode fromCodePoint',
}

const takingFunctions =
  'every filter find findIndex findLast findLastIndex flatMap forEach groupBy map reduce reduceRight some'.split(' ')

export type Operation = {
  /** `code:filter` */
  id: string
  name: string
  /** A name may belong to several: lists and texts are sliced alike. */
  owners: OperationOwner[]
  /** Without a function it would do nothing of use. */
  takesFunction: boolean
}

const byId = new Map<string, Operation>()
for (const [owner, list] of Object.entries(names) as [OperationOwner, string][]) {
  for (const name of list.split(' ')) {
    const id = `code:${name}`
    const known = byId.get(id)
    if (known !== undefined) known.owners.push(owner)
    else byId.set(id, { id, name, owners: [owner], takesFunction: takingFunctions.includes(name) })
  }
}

export const operations: readonly Operation[] = [...byId.values()]

export function operationOf(id: string): Operation | undefined {
  return byId.get(id)
}

/** Whether values of the language carry it as a method, or only a global object as a function. */
export function isMethod({ owners }: Operation): boolean {
  return owners.some((owner) => owner[0]! >= 'a')
}

/** By what they belong to, as a box is told them. */
export const tracedOperations: Record<string, string[]> = Object.fromEntries(
  Object.entries(names).map(([owner, list]) => [owner, list.split(' ')]),
)
