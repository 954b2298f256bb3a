/** What enters a verb, read member by member and refused by name; a human's decision among it. */
export { invalid, missing, numberOf, objectOf, oneOf, optional, refuseDeep, textOf } from './input-fields.ts'
export { type Decision, DecisionError, decisionFault, readDecision } from './parse-decision.ts'
