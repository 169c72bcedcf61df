/** Finds the keys of consent authorities: registered ones, and those that an authority publishes. */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Log } from '@rollcall/observe/log'
import type { AddressGuard, AddressGuardOwner } from '@rollcall/participants/egress/address-guard'
import { createKeySetFetcher } from '@rollcall/participants/trust/key-sets'
import { cacheKeyImports } from '@rollcall/participants/trust/peer-keys'
import { type PublicKey, signatureKeys, verifyingKey, type WebCryptoKey } from '@rollcall/protocol'
import type { ConsentAuthority } from './store/authorities.ts'

export const CONSENT_ALGORITHMS = ['EdDSA', 'ES256', 'RS256'] as const
export type ConsentAlgorithm = (typeof CONSENT_ALGORITHMS)[number]

export interface AuthorityKeyFinder {
  /** The authority's keys of this algorithm and `kid`, or of any kid when the signature names none; at most 20. */
  of(authority: ConsentAuthority, kid: string | null, algorithm: ConsentAlgorithm): Promise<readonly WebCryptoKey[]>
}

/** Creates the finder of keys. @param deps.guardOf returns the guard that fetches the key set of an authority */
export function createAuthorityKeyFinder(deps: {
  readonly guardOf: (authority: AddressGuardOwner) => Pick<AddressGuard, 'request'>
  readonly log: Pick<Log, 'warn'>
  readonly clock: Pick<Clock, 'now'>
}): AuthorityKeyFinder {
  const keySets = createKeySetFetcher(deps)
  const imported = cacheKeyImports(verifyingKey)
  return {
    async of({ id, name, jwks_uri, outgoing, keys }, kid, algorithm) {
      const named = keys.filter((key) => kid === null || key.kid === kid)
      // If a key is registered under this kid, no published key replaces it.
      const isRegistered = kid !== null && named.length > 0
      const published: readonly PublicKey[] = isRegistered
        ? []
        : await keySets.get({ id, sender_id: name, jwks_uri, outgoing }, kid)
      return Promise.all(signatureKeys([...named, ...published], kid, algorithm).map(imported))
    },
  }
}
