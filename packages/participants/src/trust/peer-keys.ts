/** Finds the keys of participants, imported for use: keys that verify signatures, and a key for encryption. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createLruCache } from '@rollcall/base/shared/recently-used'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import {
  type AlgorithmName,
  type EncryptionKey,
  encryptionKey,
  type PublicKey,
  signatureKeys,
  verifyingKey,
  type WebCryptoKey,
} from '@rollcall/protocol'
import { findRegisteredKeys, listCurrentAndFutureKeys, type ParticipantKey } from '../store/participant-keys.ts'
import { notePublishedKeyUse } from '../store/published-keys.ts'
import type { KeySetOwner } from './key-sets.ts'

export interface PeerKeys {
  /** Finds at most 20 live keys for signatures of this algorithm: those named `kid`, or any when it is null. */
  verifying(participant: KeySetOwner, kid: string | null, algorithm: AlgorithmName): Promise<readonly WebCryptoKey[]>
  /** Stores the published key with this kid, which has verified a message, as evidence for that message. Never rejects. */
  noteKeyUse(participant: KeySetOwner, kid: string): Promise<void>
  /** Finds a valid key for encryption: the registered one with the latest `valid_from`, else the first published one, or null. */
  encryption(participant: KeySetOwner): Promise<EncryptionKey | null>
}

/** Milliseconds after which the use of a published key is noted again. */
const KEY_USE_NOTE_INTERVAL_MS = 3_600_000

/** The most imported keys that are cached, and the most noted uses and failures that are remembered. */
const MOST_REMEMBERED_KEYS = 10_000

interface PeerKeyDeps {
  /** Fetches the key set of a participant (`KeySets.get`). */
  readonly fetchKeySet: (participant: KeySetOwner, kid: string | null) => Promise<readonly PublicKey[]>
  readonly log: Pick<Log, 'warn' | 'error'>
  /** The time for the validity of keys, and for the age of cached values. */
  readonly clock?: Pick<Clock, 'now' | 'date'>
}

export function createPeerKeys(db: Database, { fetchKeySet, log, clock = SYSTEM_CLOCK }: PeerKeyDeps): PeerKeys {
  const ages = { now: clock.now }
  const registered = createShortLivedCache((id) => listCurrentAndFutureKeys(db, { id: Number(id) }), ages)
  // For the thumbprints of a published key set, joined by spaces: the registered keys that have one of them, by thumbprint.
  const entries = createShortLivedCache(async (joined) => {
    const found = await findRegisteredKeys(db, joined.split(' '))
    return new Map(found.map((entry) => [entry.thumbprint, entry]))
  }, ages)
  const usable = createKeyImporters(log)
  /** The times at which the use of each published key was last noted in the database. */
  const noted = createLruCache<string, number>(MOST_REMEMBERED_KEYS)
  /** Keys whose refusal was logged. A key is logged again only when its set is fetched again. */
  const reported = new WeakSet<PublicKey>()
  const isLive = (key: ParticipantKey): boolean => isKeyValid(key, clock.date())

  /**
   * The published keys of a participant. A key is left out if it is registered for another participant, or if it is registered
   * for this one and not valid now.
   */
  const published = async (participant: KeySetOwner, kid: string | null): Promise<readonly PublicKey[]> => {
    const keys = await fetchKeySet(participant, kid)
    if (keys.length === 0) return []
    const known = await entries.get(keys.map(({ thumbprint }) => thumbprint).join(' '))
    return keys.filter((key) => {
      const entry = known.get(key.thumbprint)
      if (entry === undefined || (entry.participant === participant.id && isLive(entry))) return true
      if (!reported.has(key)) {
        const why = entry.participant === participant.id ? 'revoked or not valid' : "another participant's"
        log.warn({ sender_id: participant.sender_id, why }, 'key of a key set ignored')
        reported.add(key)
      }
      return false
    })
  }

  const noteUse = async (participant: KeySetOwner, kid: string): Promise<void> => {
    const own = await registered.get(String(participant.id))
    if (own.some((key) => key.kid === kid)) return
    for (const key of await published(participant, kid)) {
      const name = `${participant.id} ${key.thumbprint} ${kid}`
      if (key.kid !== kid || clock.now() - (noted.get(name) ?? Number.NEGATIVE_INFINITY) < KEY_USE_NOTE_INTERVAL_MS) continue
      noted.set(name, clock.now())
      await notePublishedKeyUse(db, participant.sender_id, { ...key, kid }).catch((error: unknown) => {
        noted.delete(name)
        throw error
      })
    }
  }

  return {
    async verifying(participant, kid, algorithm) {
      const own = await registered.get(String(participant.id))
      const named = own.filter((key) => kid === null || key.kid === kid)
      const decided = kid !== null && named.length > 0
      // If the operator registered a key under this kid, published keys are not used, even before the registered key is
      // valid. When the registered key is revoked or has ended, published keys may be used again.
      const others = decided ? [] : await published(participant, kid)
      const live: readonly PublicKey[] = [...named.filter(isLive), ...others]
      return usable.verifying(signatureKeys(live, kid, algorithm))
    },
    noteKeyUse: (participant, kid) =>
      noteUse(participant, kid).catch((error: unknown) => {
        // If the use cannot be noted, the message is not refused: the next message notes the use.
        log.error({ database: safeDatabaseError(error) }, 'the use of a published key could not be noted')
      }),
    async encryption(participant) {
      const own = await registered.get(String(participant.id))
      const isForEncryption = ({ use }: PublicKey): boolean => use === 'enc'
      const [key] = await usable.encryption(own.filter(isLive).filter(isForEncryption))
      if (key !== undefined) return key
      const [other] = await usable.encryption((await published(participant, null)).filter(isForEncryption))
      return other ?? null
    },
  }
}

/** True when a registered key is valid at a time: it is not revoked, has begun, and has not ended. */
const isKeyValid = ({ revoked_at, valid_from, valid_until }: ParticipantKey, now: number): boolean =>
  revoked_at === null && valid_from.getTime() <= now && (valid_until === null || now < valid_until.getTime())

/** Creates functions that import keys and keep their order. A key that cannot be imported is logged once and left out. */
function createKeyImporters(log: Pick<Log, 'error'>) {
  /** Thumbprints of keys that could not be imported and were logged. */
  const unusable = createLruCache<string, true>(MOST_REMEMBERED_KEYS)
  const usableOf =
    <Key>(load: (key: PublicKey) => Promise<Key>) =>
    async (keys: readonly PublicKey[]): Promise<readonly Key[]> => {
      const loaded = await Promise.allSettled(keys.map(load))
      return loaded.flatMap((result, index) => {
        if (result.status === 'fulfilled') return [result.value]
        const { thumbprint = '' } = keys[index] ?? {}
        if (!unusable.has(thumbprint)) {
          unusable.set(thumbprint, true)
          const { error } = safeDatabaseError(result.reason)
          log.error({ thumbprint, error }, 'a key of a participant cannot be read; its others are used')
        }
        return []
      })
    }
  return { verifying: usableOf(cacheKeyImports(verifyingKey)), encryption: usableOf(cacheKeyImports(encryptionKey)) }
}

/** Caches imported keys: importing a key takes longer than verifying with it. */
export function cacheKeyImports<Key>(load: (key: PublicKey) => Promise<Key>): (key: PublicKey) => Promise<Key> {
  const imports = createLruCache<string, Promise<Key>>(MOST_REMEMBERED_KEYS)
  return (key) => {
    const name = `${key.thumbprint} ${key.algorithm} ${key.kid}`
    const known = imports.get(name)
    if (known !== undefined) return known
    const loaded = load(key)
    imports.set(name, loaded)
    loaded.catch(() => imports.delete(name))
    return loaded
  }
}
