/**
 * The last list of a server's tools, so that the same list is not read again: every tool of it
 * stands in the catalogue and on the record already. What was kept on disk decides that for the
 * list as a whole; a tool that is about to be called is read from the list that its server sent,
 * and digested again, so that no file of ours can vouch for a definition that was changed.
 */

import type { Listing, ToolDefinition } from '#catalog/mcp'
import type { Tool } from '#model'
import type { SeenList } from './digests-file.ts'
import type { Pins } from './pins.ts'

type LastList = {
  /**
   * Whether the server sent the list that was seen last, and the record still has what was written
   * for it.
   */
  isSame(listing: Listing): boolean
  /**
   * Every tool of another list is on the record: what identifies it, or null for one that is always
   * to be read.
   */
  seen(listing: Listing, isStrict: boolean): SeenList | null
  /** Another list came; until it was seen there is none. */
  forget(): void
  /**
   * The tool of this name as the server sent it, where its list was not read; undefined where it
   * was.
   */
  tool(name: string): Tool | undefined
}

export function openLastList(
  kept: SeenList | null,
  pins: Pins,
  toTool: (definition: ToolDefinition) => Tool | undefined,
): LastList {
  let last = kept
  let unread: Listing | null = null
  const read = new Map<string, Tool | undefined>()
  const forget = () => {
    last = null
    unread = null
    read.clear()
  }
  return {
    isSame(listing) {
      if (last === null || listing.digest !== last.digest || !pins.holds(last.anchor)) return false
      unread = listing
      read.clear()
      return true
    },
    seen({ digest }, isStrict) {
      const anchor = pins.anchor()
      last = digest === null || anchor === null || !isStrict ? null : { digest, anchor }
      return last
    },
    forget,
    tool(name) {
      if (unread === null) return undefined
      if (!read.has(name)) {
        const definition = unread.definition(name)
        read.set(name, definition && toTool(definition))
      }
      return read.get(name)
    },
  }
}
