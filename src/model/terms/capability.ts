/** How a learned procedure is named: `cap:name`, or one version of it, `cap:name@2`. */

const form = /^cap:([a-z][a-z0-9_]{0,63})(?:@([1-9][0-9]{0,5}))?$/

/** Null where the text is no such id; `version` is null where it names none. */
export function parseCapabilityId(id: string): { name: string; version: number | null } | null {
  const match = form.exec(id)
  if (match === null) return null
  return { name: match[1]!, version: match[2] === undefined ? null : Number(match[2]) }
}

export function capabilityId(name: string, version: number): string {
  return `cap:${name}@${version}`
}

/** Whether a call is meant for a capability, also where no capability can have that name. */
export function isCapability(tool: string): boolean {
  return tool.startsWith('cap:')
}
