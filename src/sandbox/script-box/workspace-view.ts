/**
 * A folder of the host as a script sees it: read-only at `/workspace`, with a private copy of the
 * script in its place, and with nothing where something is to be hidden.
 */
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bind, View } from './filesystem-view.ts'

export type WorkspaceView = {
  /** On the host; no link leads to it. */
  folder: string
  /** Where the script stands, below the folder; it is there already. */
  script: string
  /** Below the folder, too: all of them exist. */
  hidden: { folders: readonly string[]; files: readonly string[] }
}

export const workspacePlace = '/workspace'

const inside = (path: string) => join(workspacePlace, path)

/** Files that the walls are made of; written before the box is opened. */
export async function writeWorkspace(folder: string, script: string): Promise<void> {
  for (const [name, text] of [
    ['script', script],
    ['nothing', ''],
  ] as const) {
    await writeFile(join(folder, name), text)
    await chmod(join(folder, name), 0o444)
  }
}

/** In this order: what is hidden lies on the folder, and nothing is hidden behind the script. */
export function withWorkspace(view: View, own: string, { folder, script, hidden }: WorkspaceView): View {
  const blank = (path: string): Bind => ({ from: join(own, 'nothing'), to: inside(path) })
  return {
    ...view,
    binds: [
      ...view.binds,
      { from: folder, to: workspacePlace },
      ...hidden.files.map(blank),
      { from: join(own, 'script'), to: inside(script) },
    ],
    blanks: [...view.blanks, ...hidden.folders.map(inside)],
  }
}
