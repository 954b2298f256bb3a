/** The artifacts that a configuration names, for commands that need no store for them. */
import type { Config } from '#model'
import type { Artifacts } from '#verbs'

export async function artifactsOf(config: Pick<Config, 'home' | 'artifacts'>): Promise<Artifacts> {
  const { openArtifacts } = await import('#verbs')
  return openArtifacts(config)
}
