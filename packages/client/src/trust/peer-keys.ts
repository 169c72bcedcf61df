/** The keys of one peer, ready for use: those that verify what it signed, and one to encrypt for it. */
import {
  type AlgorithmName,
  algorithmOfJwk,
  type EncryptionKey,
  importVerifyingKey,
  type Jwk,
  JwkError,
  publicEncryptionKey,
  UnusableKey,
  type WebCryptoKey,
} from '@rollcall/protocol'
import type { KeySet } from './key-set.ts'

export interface PeerKeys {
  /** Keys of this algorithm: those called `kid`, or all where the signature names none. Asks for the set again once when there is none. */
  verifying(kid: string | null, algorithm: AlgorithmName): Promise<readonly WebCryptoKey[]>
  /** The first key to encrypt for it; null when there is none. */
  encryption(): Promise<EncryptionKey | null>
}

/** Importing takes longer than verifying; keys are the same objects as long as their set is held. */
export function peerKeys(set: KeySet): PeerKeys {
  const imported = new WeakMap<Jwk, Promise<WebCryptoKey | null>>()
  const importOnce = (jwk: Jwk, algorithm: AlgorithmName): Promise<WebCryptoKey | null> => {
    const known = imported.get(jwk)
    if (known !== undefined) return known
    const key = importVerifyingKey(jwk, algorithm).catch(unusable)
    imported.set(jwk, key)
    return key
  }
  const named = (keys: readonly Jwk[], kid: string | null, algorithm: AlgorithmName): readonly Jwk[] =>
    keys.filter(
      (jwk) => jwk.use !== 'enc' && algorithmOfJwk(jwk) === algorithm && (kid === null || kidOf(jwk) === kid),
    )
  return {
    async verifying(kid, algorithm) {
      let keys = named(await set.get(), kid, algorithm)
      if (keys.length === 0) keys = named(await set.get({ renewed: true }), kid, algorithm)
      const usable = await Promise.all(keys.map((jwk) => importOnce(jwk, algorithm)))
      return usable.filter((key) => key !== null)
    },
    async encryption() {
      for (const jwk of await set.get()) {
        const key = jwk.use === 'enc' ? await publicEncryptionKey(jwk).catch(unusable) : null
        if (key !== null) return key
      }
      return null
    },
  }
}

/** Some publish the whole `sender_id|kid|algorithm` as kid (1.5). */
function kidOf({ kid }: Jwk): unknown {
  return typeof kid === 'string' ? (kid.split('|')[1] ?? kid) : kid
}

/** Keys that cannot be used do not count. */
function unusable(error: unknown): null {
  if (error instanceof JwkError || error instanceof UnusableKey) return null
  throw error
}
