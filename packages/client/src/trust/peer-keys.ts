/** The public keys of a peer: given, or fetched from an address (RFC 7517; N14). */
import {
  type AlgorithmName,
  type EncryptionKey,
  encryptionKey,
  type Fetched,
  type Jwk,
  KEY_SET,
  KeySetProblem,
  type PublicKey,
  publicKeysOf,
  Refreshed,
  readKeySet,
  signatureKeys,
  verifyingKey,
  type WebCryptoKey,
} from '@rollcall/protocol'
import { TransportError } from '../errors.ts'
import { type HttpSettings, sendOnce } from '../http/post.ts'
import { DEFAULT_RETRY, withRetries } from '../http/retry.ts'

/** A set of public keys (RFC 7517, 5). */
export interface JwkSet {
  readonly keys: readonly Jwk[]
}

/**
 * Returns the known keys. A published set is first fetched when none is known, when the known set is older than `KEY_SET.fresh`,
 * or when `enough` is false for its keys. After each request there is a pause without requests: `KEY_SET.pause`, or, while no set
 * is known, PAUSE_WITHOUT_KEY_SET_MS.
 */
export type KeySetSource = (enough?: (keys: readonly PublicKey[]) => boolean) => Promise<readonly PublicKey[]>

/**
 * Makes a fixed key set. The returned function rejects with a TypeError when two different keys for the same use have one kid.
 * @throws TypeError a key is private or symmetric, or the set is invalid
 */
export function givenKeySet(set: JwkSet): KeySetSource {
  const jwks = requirePublicJwks(set)
  let keys: Promise<readonly PublicKey[]> | undefined
  return () => {
    keys ??= publicKeysOf(jwks, undefined).catch((error: unknown) => {
      if (!(error instanceof KeySetProblem)) throw error
      throw new TypeError('a set of public keys must not have two keys of one name')
    })
    return keys
  }
}

function requirePublicJwks(set: JwkSet): ReturnType<typeof readKeySet> {
  try {
    return readKeySet(set)
  } catch (error) {
    if (!(error instanceof KeySetProblem)) throw error
    throw new TypeError('a set of public keys must be {keys: [...]}, with no private key in it')
  }
}

/** Milliseconds between two requests for a key set, while none has been fetched. */
const PAUSE_WITHOUT_KEY_SET_MS = 1_000

/**
 * Makes a key set that is fetched when needed. When the fetched set has a private key, the earlier set is dropped, and the
 * returned function rejects with a TransportError.
 * @param now returns the time in milliseconds of a clock that is never set back
 */
export function fetchedKeySet(http: HttpSettings, url: string, now = () => performance.now()): KeySetSource {
  const set = new Refreshed<readonly PublicKey[]>({
    pause: { withValue: KEY_SET.pause, without: PAUSE_WITHOUT_KEY_SET_MS },
    survives: (error) => error instanceof TransportError && !isPrivateKeyExposed(error.cause),
    now,
  })
  return (enough) => set.get(() => fetchKeys(http, url), enough)
}

const isPrivateKeyExposed = (cause: unknown): boolean => cause instanceof KeySetProblem && cause.exposed

/** Keys are fetched with up to two attempts, so that one broken connection does not make the check of an answer fail. */
const KEY_SET_RETRY = { ...DEFAULT_RETRY, attempts: 2, first_pause: 100 }

async function fetchKeys(http: HttpSettings, url: string): Promise<Fetched<readonly PublicKey[]>> {
  const { status, text } = await withRetries(
    () => sendOnce(http, url, { method: 'GET', headers: { Accept: 'application/json' } }),
    KEY_SET_RETRY,
  )
  try {
    if (status !== 200) throw new KeySetProblem(`the answer has status ${status}`)
    return { ...KEY_SET, value: await publicKeysOf(readKeySet(text), undefined) }
  } catch (cause) {
    if (!(cause instanceof KeySetProblem)) throw cause
    throw new TransportError('unreadable', 'the address of the key set answers with no set of public keys', {
      httpStatus: status,
      cause,
    })
  }
}

/** Finds the public keys of one peer. */
export interface PeerKeys {
  /** At most 20 keys of this algorithm: those with this kid, or any when the signature names none. */
  verifying(kid: string | null, algorithm: AlgorithmName): Promise<readonly WebCryptoKey[]>
  /** The first encryption key of the peer; null when there is none. */
  encryption(): Promise<EncryptionKey | null>
}

/** The keys of a set, imported. Keys for signatures are imported once: importing takes longer than verifying. */
export function peerKeys(set: KeySetSource): PeerKeys {
  const imported = new WeakMap<PublicKey, Promise<WebCryptoKey>>()
  const importOnce = (key: PublicKey): Promise<WebCryptoKey> => {
    const known = imported.get(key) ?? verifyingKey(key)
    imported.set(key, known)
    return known
  }
  return {
    async verifying(kid, algorithm) {
      const named = (keys: readonly PublicKey[]) => signatureKeys(keys, kid, algorithm)
      const keys = await set((known) => named(known).length > 0)
      return Promise.all(named(keys).map(importOnce))
    },
    async encryption() {
      const key = (await set()).find(({ use }) => use === 'enc')
      return key === undefined ? null : encryptionKey(key)
    },
  }
}
