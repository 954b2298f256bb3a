/** The handle under which result() gives the arguments of a call. */

/**
 * `3/args` are the arguments of call 3, as the handle of an approval names them; a task may have
 * any name.
 */
export const argumentsSuffix = '/args'

export function argumentsHandle(run: string, call: string): { run: string; call: string } {
  return { run, call: `${call}${argumentsSuffix}` }
}
