/**
 * Verification: a home enters, a verdict with the first bad event leaves. It trusts neither the
 * rows beside the events nor the files, and refuses only what it may not read.
 */
export { openVerifier } from './cached-verify.ts'
export { fold, newDerived } from './derive.ts'
export { verify, verifyAt } from './verify-home.ts'
