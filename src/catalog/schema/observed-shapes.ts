/**
 * What the tools of one server answered so far, as shapes, for those that do not say it themselves;
 * kept on disk between two lives.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject, type Json, type JsonObject, limits, replaceFile, type Tool } from '#model'
import { covers, isShape, mergeShapes, type Shape, schemaOf, shapeOf } from './infer-shape.ts'

/** By the digest of the tool's definition: another definition may answer otherwise. */
type ShapesByDigest = Record<string, { tool: string; shape: Shape }>

export type Shapes = {
  of(tool: Tool): JsonObject | undefined
  /** True when it taught something new. */
  observe(tool: Tool, value: Json): boolean
  close(): void
}

type ShapesOptions = {
  folder: string
  server: string
  /** Values that must not be kept, also where a server makes names of them. */
  secrets: readonly string[]
  log: (line: string) => void
}

export function openShapes({ folder, server, secrets, log }: ShapesOptions): Shapes {
  const file = join(folder, 'shapes', `${server}.json`)
  const seen = read(file)
  let timer: NodeJS.Timeout | undefined
  const write = () => {
    clearTimeout(timer)
    timer = undefined
    try {
      save(file, seen)
    } catch (error) {
      log(`${server}: cannot keep the shapes of its results: ${(error as Error).message}`)
    }
  }
  return {
    of: ({ digest }) => (Object.hasOwn(seen, digest) ? schemaOf(seen[digest]!.shape) : undefined),
    observe(tool, value) {
      const before = Object.hasOwn(seen, tool.digest) ? seen[tool.digest]!.shape : null
      if (before === null && Object.keys(seen).length >= limits.shapesPerServerMax) return false
      if (before !== null && covers(before, value)) return false
      const now = shapeOf(value)
      const shape = before === null ? now : mergeShapes(before, now)
      const text = JSON.stringify(shape)
      if (JSON.stringify(before) === text || secrets.some((secret) => text.includes(secret))) return false
      seen[tool.digest] = { tool: tool.name, shape }
      timer ??= setTimeout(write, limits.shapesWriteMs).unref()
      return true
    },
    close: () => timer !== undefined && write(),
  }
}

/** Nothing where there is nothing readable: shapes are learned again. */
function read(file: string): ShapesByDigest {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const entries = Object.entries(isObject(value) ? value : {})
    return Object.fromEntries(entries.filter(([, entry]) => isObject(entry) && isShape(entry.shape))) as ShapesByDigest
  } catch {
    return {}
  }
}

/** With what another process wrote meanwhile, in one step. */
function save(file: string, seen: ShapesByDigest): void {
  for (const [digest, { tool, shape }] of Object.entries(read(file))) {
    const mine = seen[digest]?.shape
    seen[digest] = { tool, shape: mine === undefined ? shape : mergeShapes(mine, shape) }
  }
  // The folder above is there since the server said what it has; one that was taken away meanwhile
  // is not made again.
  if (!existsSync(dirname(file))) mkdirSync(dirname(file))
  replaceFile(file, JSON.stringify(seen))
}
