// Starts Métier: from source in a checkout, from dist/ in a package. Node takes longer to find our 150 small files than to
// read them, so they are found here, by their names alone; and the compile cache keeps them without their types, but only
// those that are loaded after it was enabled.
import { existsSync } from 'node:fs'
import { enableCompileCache, registerHooks } from 'node:module'
import about from '../package.json' with { type: 'json' }

enableCompileCache()
const root = new URL('../', import.meta.url).href
const isCheckout = existsSync(new URL('src/main.ts', root))
const [ours, ending, format] = isCheckout
  ? [`${root}src/`, '.ts', 'module-typescript']
  : [`${root}dist/`, '.js', 'module']

/** Without a look at the disk: no link leads to a file of ours, and each is imported by its full name. */
function resolve(name, context, next) {
  const url = urlOf(name, context.parentURL)
  return url.startsWith(ours) && url.endsWith(ending) ? { url, format, shortCircuit: true } : next(name, context)
}

function urlOf(name, parent = '') {
  const door = about.imports[name]
  if (door !== undefined) return joined(root, door)
  return name.startsWith('.') ? joined(parent.slice(0, parent.lastIndexOf('/') + 1), name) : name
}

/** As `new URL(path, folder).href`, which would take a tenth of the start. */
function joined(folder, path) {
  if (path.startsWith('./')) return joined(folder, path.slice(2))
  if (!path.startsWith('../')) return folder + path
  return joined(folder.slice(0, folder.lastIndexOf('/', folder.length - 2) + 1), path.slice(3))
}

registerHooks({ resolve })
await import(`${ours}main${ending}`)
