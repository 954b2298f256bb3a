/**
 * The recipe for scripts in Go: its standard library compiled once, inside a box, where the tests
 * look for it.
 */
import { openScriptBoxes } from '#sandbox'

export type LibraryPlace = { folder: string; say(line: string): void }

export async function installLibrary({ folder, say }: LibraryPlace): Promise<void> {
  if ((await missingOf(folder)) === null) return
  say("compiling Go's standard library (a minute or two, once)")
  const boxes = openScriptBoxes({ folder })
  await boxes.build().finally(() => boxes.close())
}

/** Null when a script in Go can run; else why it cannot. */
export async function missingOf(folder: string): Promise<string | null> {
  const boxes = openScriptBoxes({ folder })
  try {
    const go = (await boxes.languages()).find(({ language }) => language === 'go')!
    return go.ok ? null : go.detail
  } finally {
    await boxes.close()
  }
}
