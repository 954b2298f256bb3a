/**
 * Decides whether a call is allowed, asked about or denied: a tool's effect and its arguments
 * enter, a verdict with the rule that gave it leaves. Knows no run: the rules are given, or folded
 * from the record's standing rules. Refuses nothing itself.
 */
export { dangerOf } from './danger.ts'
export { decide, decideEarly, isAbout, lineFor, narrower, type Verdict } from './decide.ts'
export { comparesArguments, notCovered } from './not-covered.ts'
export { type LineEffect, type LineScope, lineEffect } from './rule-effect.ts'
export {
  isInForce,
  type OwnLine,
  openStanding,
  type RunPolicy,
  runPolicy,
  type StandingLine,
  type StandingRules,
  standingLines,
  standingRules,
} from './standing-rules.ts'
export { type Proposal, suggestEffect } from './suggest-effects.ts'
