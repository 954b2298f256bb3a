/**
 * What everything that tests start belongs to: a scope that cleans up at its end, and a folder of
 * its own.
 */
import type { TestContext } from 'node:test'
import type { Verbs } from '#verbs'

/** What is cleaned up at the end: of a test, or of an example. */
export type Scope = Pick<TestContext, 'after'>

export type Workspace = { folder: string; home: string; file: string; witness: string; opened: Verbs[] }
