/** What people do about the record itself: look at its events, sign, purge, copy and add to it. */
import type { Config } from '#model'
import { homePaths, publicKeyOf, type Store, signingKey, signText, storedEvent } from '#record'
import type { KeepVerbs } from './contract.ts'
import { openArtifacts } from './record-files.ts'

export function openKeepVerbs(store: Store, config: Config): KeepVerbs {
  let key: ReturnType<typeof signingKey> | undefined
  const approvals = () => store.openApprovals().map(({ asked }) => asked.body.approval)
  const learning = () => import('#verbs/learning')
  return {
    memberText: (member) => store.text(member),
    eventsOf: (chain, options) => store.events(chain, options),
    linesOf: (chain) => store.lines(chain),
    lastId: (kind) => (kind === 'run' ? store.runs({ limit: 1 })[0]?.run : approvals().at(-1)),
    idsStartingWith: (kind, prefix, limit) =>
      kind === 'run' ? store.runsStartingWith(prefix, limit) : approvals().filter((id) => id.startsWith(prefix)),
    async policy() {
      const { isInForce, standingLines } = await import('#run')
      const { permissions, rules } = config.policy
      const standing = standingLines(store).map((line) => ({ ...line, isInForce: isInForce(line, permissions) }))
      return { permissions, rules, standing }
    },
    checkpoint: () => store.checkpoint(),
    async purge(run, { actor }) {
      await (await learning()).foldBeforePurge(store, config)
      await store.purge(run, { who: actor.name, from: actor.kind })
    },
    expire: (days) =>
      store.expire(days, { who: 'retention', from: 'engine' }, async (old) =>
        (await learning()).foldBeforeExpiry(store, config, old),
      ),
    backup: (file) => store.backup(file),
    async storeArtifact(input) {
      const artifacts = await openArtifacts(config)
      const stored = await artifacts.put(input)
      await store.appendHome('artifact.stored', storedEvent(artifacts, stored))
      return stored
    },
    sign(text) {
      key ??= signingKey(homePaths(config.home).keys)
      return { key: publicKeyOf(key), signature: signText(text, key) }
    },
  }
}
