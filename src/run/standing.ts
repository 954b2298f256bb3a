/** The lines of policy that humans wrote for good: the home's chain is read once, and from then on only what is new in it. */
import { homeChain, type PolicyRule } from '#model'
import type { Store } from '#record'

/** They stand after the file's rules, and so never beat one of them. */
export function standingRules(store: Store): readonly PolicyRule[] {
  return openStandingRules(store)()
}

/** For whoever asks again and again. */
export function openStandingRules(store: Store): () => readonly PolicyRule[] {
  const rules: PolicyRule[] = []
  let seen = 0
  return () => {
    for (const event of store.events(homeChain, { after: seen, type: 'policy.changed' })) {
      if (event.type === 'policy.changed') rules.push(event.body.rule)
      seen = event.n
    }
    return rules
  }
}
