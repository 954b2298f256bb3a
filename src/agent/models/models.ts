/**
 * Language models behind one port: a request goes in, an answer with a typed end comes out, or a
 * ModelError that says whether the request took effect. Retries, budgets and the record are the
 * caller's.
 */
export { problemOfAnswer } from './check-answer.ts'
export { compact, type Step } from './compact.ts'
export { extractJson } from './extract-json.ts'
export * from './model.ts'
export { openModel } from './open-model.ts'
export { reachable } from './reachable.ts'
