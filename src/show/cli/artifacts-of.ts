/** The artifacts of a home, for commands that need no store for them. */
import type { Config } from '#model'
import type { Artifacts } from '#record'

export async function artifactsOf({ home }: Pick<Config, 'home'>): Promise<Artifacts> {
  const { homePaths, openArtifactFolder } = await import('#record')
  return openArtifactFolder(homePaths(home).artifacts)
}
