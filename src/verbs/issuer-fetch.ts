/** How a gateway asks the issuer of its tokens for keys. */

/** Asks the authorization server of an issuer, within the limits that hold for all of them. */
export async function issuerFetch(issuer: string) {
  const { authorizationFetch } = await import('#catalog')
  return authorizationFetch(issuer)
}
