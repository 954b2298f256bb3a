/**
 * Makes the boxes of one process: each with a folder and a group of its own, below the state
 * folder.
 */
import { mkdirSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makePipes, openOutbound, ownerName, reapFolders, removeFolder, type WayOut } from '#sandbox/host'
import {
  type Box,
  type BoxPlan,
  type Driver,
  findPlaces,
  makeGroup,
  openBox,
  openView,
  type Places,
  reapGroups,
  scriptBounds,
  type View,
  type WorkspaceView,
  withWorkspace,
  workspacePlace,
  writeWorkspace,
} from '#sandbox/script-box'
import { environmentOf } from './environment.ts'
import { findGo, type GoToolchain, goBinds } from './go.ts'
import { type Interpreter, launcher } from './interpreter.ts'

/** What only some boxes have: a way out, files that they hand out, a folder to work in. */
export type BoxExtras = {
  wayOut?: WayOut
  outputs: readonly string[]
  workspace?: { view: WorkspaceView; text: string }
}

type Order = Pick<BoxPlan, 'view' | 'launcher' | 'environment' | 'bounds'> & { driver: Driver } & Partial<BoxExtras>

type FactoryOptions = {
  folder: string
  image: string | null
  /** Where programs of the host are looked for, as in PATH. */
  path: string
}

export type BoxFactory = {
  folder: string
  /** Where runsc keeps the state of this process's containers. */
  runscFolder: string
  view: View
  places: Places
  /** The toolchain of the host, with what was compiled ahead if it was. */
  go(): GoToolchain | null
  make(order: Order): Promise<Box>
  /** A box for a script. */
  open(driver: Driver, interpreter: Interpreter, extras?: BoxExtras): Promise<Box>
  close(): Promise<void>
}

/** Counted by the process, since two workshops of one process may share a state folder. */
let workshops = 0
let boxes = 0

export async function openBoxFactory({ folder, image, path }: FactoryOptions): Promise<BoxFactory> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const places = findPlaces()
  await reapGroups(places)
  await reapFolders(join(folder, 'boxes'))
  workshops += 1
  const home = join(folder, 'boxes', `${ownerName()}-${workshops}`)
  const runscFolder = join(home, 'runsc')
  mkdirSync(runscFolder, { recursive: true, mode: 0o700 })
  const view = openView(folder, image)

  /** A folder for the next box, made in advance. */
  let next: Promise<string> | null = null
  function prepareNext(): void {
    next ??= makeFolder(home)
    next.catch(() => {}) // whoever needs it is told
  }
  prepareNext()

  async function takeFolder(serial: number): Promise<string> {
    const made = next ?? makeFolder(home)
    next = null
    const own = join(home, String(serial))
    await rename(await made, own)
    return own
  }

  async function make({ driver, wayOut, outputs = [], workspace, ...parts }: Order): Promise<Box> {
    boxes += 1
    const serial = boxes
    const own = await takeFolder(serial)
    const outbound = wayOut ? await openOutbound(join(own, 'outbound'), wayOut) : null
    const plan = {
      ...(await placeOf(own, parts, workspace)),
      id: `box-${ownerName()}-${serial}`,
      serial,
      folder: own,
      outbound: outbound?.folder ?? null,
      // Beside its own folder, since what is received outlives the box.
      outputs: outputs.length > 0 ? { paths: outputs, folder: `${own}-outputs` } : null,
    }
    const group = Object.keys(places.folders).length > 0 ? makeGroup(places, driver.groupBounds(plan)) : null
    try {
      const box = await openBox({ plan, driver, group, watched: places.folders.memory === undefined })
      void box.gone.then(() => outbound?.close())
      prepareNext()
      return box
    } catch (thrown) {
      outbound?.close()
      await group?.remove()
      await rm(own, { recursive: true, force: true })
      throw thrown
    }
  }

  const go = () => findGo(folder, view, path)
  return {
    folder,
    runscFolder,
    view,
    places,
    go,
    make,
    open(driver, interpreter, extras = { outputs: [] }) {
      const found = interpreter === 'go' ? go() : null
      return make({ driver, ...extras, ...partsOf(driver, interpreter, { view, go: found, extras }) })
    },
    async close() {
      await next?.catch(() => {})
      await removeFolder(home)
    },
  }
}

type BoxView = { view: View; go: GoToolchain | null; extras: BoxExtras }

/** What the box of a script in this language runs, and what it sees. */
function partsOf(
  { limitsTasks }: Driver,
  interpreter: Interpreter,
  { view, go, extras: { wayOut, outputs, workspace } }: BoxView,
): Omit<Order, 'driver'> {
  const options = {
    interpreter,
    outbound: wayOut !== undefined,
    outputs: outputs.length > 0,
    limitsTasks,
    isFile: workspace !== undefined,
  }
  return {
    view: { ...view, binds: [...view.binds, ...(go ? goBinds(go) : [])] },
    launcher: launcher(options),
    environment: {
      ...environmentOf({ ...options, goRoot: go?.inside ?? null }),
      ...(workspace && { BOX_SCRIPT: workspace.view.script }),
    },
    bounds: scriptBounds,
  }
}

/** What the box sees, and where its script starts. */
async function placeOf<Parts extends { view: View }>(
  own: string,
  parts: Parts,
  workspace: BoxExtras['workspace'],
): Promise<Parts & { cwd: string }> {
  if (workspace === undefined) return { ...parts, cwd: '/tmp' }
  await writeWorkspace(own, workspace.text)
  return { ...parts, view: withWorkspace(parts.view, own, workspace.view), cwd: workspacePlace }
}

async function makeFolder(home: string): Promise<string> {
  const folder = await mkdtemp(join(home, 'next-'))
  await mkdir(join(folder, 'inputs'))
  await chmod(join(folder, 'inputs'), 0o755)
  await makePipes(folder)
  return folder
}
