/**
 * What needs the files of a home and no open store: it may be broken, gone, or not asked for. Each
 * is loaded when it is called.
 */
import { type Config, homePaths, type RunId } from '#model'
import type { Artifacts } from '#record'

type Home = Pick<Config, 'home'>

/** Where a home has its keys: they are in no backup. */
export const keysFolder = (home: string) => homePaths(home).keys

/** Checks all of the record, or one run; opening the store would refuse what is to be told. */
export async function verifyRecord({ home }: Home, run?: string) {
  const { verify } = await import('#record')
  return verify(home, run === undefined ? {} : { run })
}

/** `pages` are texts for people that go along. */
export async function exportRun({ home }: Home, run: RunId, file: string, pages: Record<string, string> = {}) {
  const record = await import('#record')
  return record.exportRun(home, run, file, pages)
}

export async function restoreRecord({ home }: Home, file: string) {
  const { restore } = await import('#record')
  return restore(home, file)
}

export async function openArtifacts(config: Pick<Config, 'home' | 'artifacts'>): Promise<Artifacts> {
  const { artifactsAddress, openArtifacts: open } = await import('#record')
  return open(artifactsAddress(config))
}
