// Starts a checkout. The compile cache keeps sources without their types, but only of files that are loaded after it was
// enabled: were main.ts the first file, its types would be stripped at every start, which takes longer than all else.
import { enableCompileCache } from 'node:module'

enableCompileCache()
await import('../src/main.ts')
