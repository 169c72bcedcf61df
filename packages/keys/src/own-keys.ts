/** Our own keys as a running server uses them. A change in the database takes effect within half a second. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { Database } from '@rollcall/database/database'
import { isUnavailable } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import { type AlgorithmName, qualifiedKid } from '@rollcall/protocol'
import type { CryptoKey, JWK } from 'jose'
import { MasterKeyError } from './master-key.ts'
import {
  decryptJwk,
  findKeyDefinition,
  importKey,
  importPrivateKey,
  OWN_KEY_DEFINITIONS,
  type OwnKeyDefinition,
  publicHalf,
  type SignatureKeyDefinition,
} from './own-key-definitions.ts'
import { ensureOwnKeys } from './rotation.ts'
import { listValidOwnKeys, type OwnKey } from './store/own-keys.ts'
import type { Vault } from './vault.ts'

export interface SigningKey {
  readonly kid: string
  readonly algorithm: AlgorithmName
  readonly privateKey: CryptoKey
}

export interface VerifyingKey {
  readonly kid: string
  readonly algorithm: AlgorithmName
  readonly publicKey: CryptoKey
}

/** Finds keys to sign with and to verify with. */
export interface SignatureKeyFinder {
  /** The active key of the algorithm (default: EdDSA). A missing signature key is made. */
  signing(algorithm?: AlgorithmName): Promise<SigningKey>
  /** The valid key with this kid; null when it is unknown, expired or revoked. */
  verification(kid: string): Promise<VerifyingKey | null>
}

export interface OwnKeys extends SignatureKeyFinder {
  /** The private half of the valid encryption key with this kid; null for an unknown, expired or revoked key. */
  decryption(kid: string): Promise<CryptoKey | null>
  /**
   * The key set for peers (N14): first the active and the next keys, then the retired ones that are still valid. The oldest
   * retired keys are left out if there are too many.
   * @param sender_id that of a registry; if given, the set has each signature key a second time, with the kidId of that
   * registry's signatures (`sender_id|kid|algorithm`) as its `kid`
   */
  jwks(sender_id?: string): Promise<{ readonly keys: readonly JWK[] }>
  /** The keys of access tokens, which are not published. */
  readonly tokens: SignatureKeyFinder
}

type ValidSignatureKey = ValidKey & { readonly definition: SignatureKeyDefinition }

/**
 * Makes the missing keys, and decrypts all valid keys.
 * @throws MasterKeyError a key cannot be decrypted: the server must not start without it
 */
export async function ensureAndLoadOwnKeys(
  db: Database,
  vault: Vault,
  log: Pick<Log, 'error'>,
  { now }: Pick<Clock, 'now'> = SYSTEM_CLOCK,
): Promise<OwnKeys> {
  await ensureOwnKeys(db, vault)
  const readKeys = createOwnKeyReader(db, vault, log)
  const [unreadable] = (await readKeys()).unreadable
  if (unreadable !== undefined) {
    throw new MasterKeyError(
      `the own key ${unreadable} cannot be decrypted: its row was altered; revoke it, and another takes its place (docs/keys.md)`,
    )
  }
  const loaded = createShortLivedCache(async () => (await readKeys()).live, { now })
  const live = (): Promise<readonly ValidKey[]> => loaded.get('all')

  const signers = (use: SignatureKeyDefinition['use']): SignatureKeyFinder => {
    const ours = async (): Promise<readonly ValidSignatureKey[]> =>
      (await live()).filter((key): key is ValidSignatureKey => key.definition.use === use)
    return {
      async signing(algorithm = 'EdDSA') {
        const isCurrent = ({ active, definition }: ValidSignatureKey): boolean => active && definition.algorithm === algorithm
        let key = (await ours()).find(isCurrent)
        if (key === undefined && use === 'sig') {
          await ensureOwnKeys(db, vault, algorithm)
          // Forget the cached keys, so that peers get the new key.
          loaded.forget('all')
          key = (await ours()).find(isCurrent)
        }
        const privateKey = key?.material.privateKey ?? null
        if (key === undefined || privateKey === null) throw new Error(`there is no key to sign with (${use})`)
        return { kid: key.kid, algorithm: key.definition.algorithm, privateKey }
      },
      async verification(kid) {
        const key = (await ours()).find((candidate) => candidate.kid === kid)
        return key === undefined ? null : { kid, algorithm: key.definition.algorithm, publicKey: key.material.publicKey }
      },
    }
  }

  return {
    ...signers('sig'),
    tokens: signers('token'),
    async decryption(kid) {
      const key = (await live()).find((candidate) => candidate.definition.use === 'enc' && candidate.kid === kid)
      return key?.material.privateKey ?? null
    },
    jwks: async (sender_id) => ({ keys: publishedJwks(await live(), sender_id) }),
  }
}

/** Reads the public halves of the valid published keys, as far as they can be decrypted. Makes and changes nothing. */
export async function readPublishedKeys(db: Database, vault: Vault): Promise<readonly JWK[]> {
  return publishableJwksOf((await createOwnKeyReader(db, vault, { error: () => undefined })()).live)
}

const PUBLISHED_DEFINITIONS = OWN_KEY_DEFINITIONS.filter((definition) => definition.published)

/** The public halves of those keys that peers may fetch, in the order of `OWN_KEY_DEFINITIONS`. */
const publishableJwksOf = (all: readonly ValidKey[]): readonly JWK[] =>
  PUBLISHED_DEFINITIONS.flatMap((definition) => all.filter((key) => key.definition === definition).map(publicJwk))

const publicJwk = ({ definition, kid, material }: ValidKey): JWK => ({
  ...material.public_jwk,
  kid,
  use: definition.use,
  alg: definition.algorithm,
})

/** The largest number of keys in our key set, because peers may refuse larger sets, as we do. */
const MOST_KEY_SET_KEYS = 20

function publishedJwks(all: readonly ValidKey[], sender_id?: string): readonly JWK[] {
  const qualified = (key: ValidKey): readonly JWK[] => {
    const { definition, kid } = key
    if (sender_id === undefined || definition.use === 'enc') return []
    return [{ ...publicJwk(key), kid: qualifiedKid(sender_id, { kid, algorithm: definition.algorithm }) }]
  }
  const current = all.filter(({ definition, retired }) => definition.published && !retired)
  // Nobody encrypts for a retired key. In a full set it would take the place of a retired signing key.
  const retired = all.filter((key) => key.definition.use === 'sig' && key.retired)
  return [
    ...[...publishableJwksOf(current), ...current.flatMap(qualified)],
    ...retired.flatMap((key) => [publicJwk(key), ...qualified(key)]),
  ].slice(0, MOST_KEY_SET_KEYS)
}

interface ValidKey {
  readonly definition: OwnKeyDefinition
  readonly kid: string
  readonly active: boolean
  readonly retired: boolean
  readonly material: KeyMaterial
}

interface KeyMaterial {
  readonly public_jwk: JWK
  readonly publicKey: CryptoKey
  /** The private half; null when it was erased, because the key no longer signs. */
  readonly privateKey: CryptoKey | null
}

/**
 * Returns a function that reads the valid keys from the database. A decrypted key is remembered as long as it is valid.
 * A key that cannot be decrypted is not used: a row that was written without the master key adds no key of ours.
 */
function createOwnKeyReader(db: Database, vault: Vault, log: Pick<Log, 'error'>) {
  let known = new Map<string, KeyMaterial>()
  const reported = new Set<string>()

  const materialOf = async (key: OwnKey, definition: OwnKeyDefinition): Promise<KeyMaterial | null> => {
    try {
      const jwk = await decryptJwk(key, vault)
      const public_jwk = publicHalf(jwk)
      return {
        public_jwk,
        publicKey: await importKey(public_jwk, key.algorithm),
        privateKey: jwk.d === undefined ? null : await importPrivateKey(jwk, definition),
      }
    } catch (error) {
      if (isUnavailable(error)) throw error
      const name = error instanceof Error ? error.name : typeof error
      if (!reported.has(key.kid)) log.error({ kid: key.kid, error: name }, 'an own key cannot be decrypted')
      reported.add(key.kid)
      return null
    }
  }

  return async (): Promise<{ live: readonly ValidKey[]; unreadable: readonly string[] }> => {
    const next = new Map<string, KeyMaterial>()
    const live: ValidKey[] = []
    const unreadable: string[] = []
    for (const key of await listValidOwnKeys(db)) {
      const definition = findKeyDefinition(key)
      if (definition === undefined) continue
      const material = known.get(key.kid) ?? (await materialOf(key, definition))
      if (material === null) {
        unreadable.push(key.kid)
        continue
      }
      next.set(key.kid, material)
      const { kid, state } = key
      live.push({ definition, kid, active: state === 'active', retired: state === 'retired', material })
    }
    known = next
    return { live, unreadable }
  }
}
