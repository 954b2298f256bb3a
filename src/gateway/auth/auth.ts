/**
 * Who may speak to the gateway: headers of a request enter, a verdict with the client's identity
 * leaves. Foreign hosts and origins, missing and forged tokens are refused.
 */
export { type AuthenticatedRequest, type Authentication, metadataPath, openAuthentication } from './authentication.ts'
export { readToken, tokenFile } from './bearer.ts'
export { checkExposure, hostRefusal, repeatedHeader } from './host-guard.ts'
export { newStartToken, type StartToken, startTokenMissing, tokenIn } from './start-token.ts'
