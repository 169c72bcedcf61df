/**
 * Makes, replaces and revokes our own keys. A definition that is in use has an active key and a next key. If a definition is
 * published, both public keys are published, so that peers know the next key before it becomes active.
 */

import type { Database } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import type { AlgorithmName } from '@rollcall/protocol'
import {
  decryptJwk,
  encryptJwk,
  findKeyDefinition,
  generateKey,
  OWN_KEY_DEFINITIONS,
  type OwnKeyDefinition,
  type OwnKeyUse,
  publicHalf,
} from './own-key-definitions.ts'
import { withCurrentMasterKey } from './store/master-keys.ts'
import {
  changeOwnKeys,
  eraseExpiredOwnKeys,
  listOwnKeys,
  type NewOwnKey,
  type OwnKey,
  type OwnKeyTransaction,
} from './store/own-keys.ts'
import type { Vault } from './vault.ts'

const REQUIRED_KEY_STATES = ['active', 'next'] as const

/**
 * Makes the missing keys. If several nodes do this at once, only the keys of the first are stored.
 * @param algorithm a signature algorithm whose key is needed although it is made on demand
 */
export async function ensureOwnKeys(db: Database, vault: Vault, algorithm?: AlgorithmName): Promise<void> {
  const lacking = listMissingKeys(await listOwnKeys(db), algorithm)
  if (lacking.length === 0) return
  await withCurrentMasterKey(async () => {
    const made = await Promise.all(
      lacking.map(async ({ definition, state }) => ({ definition, state, key: await makeNewOwnKey(definition, vault) })),
    )
    await changeOwnKeys(db, async (change) => {
      const still = listMissingKeys(await change.list(), algorithm)
      for (const { definition, state, key } of made) {
        if (still.some((other) => other.definition === definition && other.state === state)) await change.add(key, state)
      }
    })
  })
}

function listMissingKeys(
  keys: readonly OwnKey[],
  algorithm?: AlgorithmName,
): { definition: OwnKeyDefinition; state: (typeof REQUIRED_KEY_STATES)[number] }[] {
  const wanted = OWN_KEY_DEFINITIONS.filter(
    (definition) => isDefinitionInUse(keys, definition) || (definition.use === 'sig' && definition.algorithm === algorithm),
  )
  return wanted.flatMap((definition) =>
    REQUIRED_KEY_STATES.filter((state) => findKeyInState(keys, definition, state) === undefined).map((state) => ({
      definition,
      state,
    })),
  )
}

const findKeyInState = (keys: readonly OwnKey[], definition: OwnKeyDefinition, state: OwnKey['state']): OwnKey | undefined =>
  keys.find((key) => key.state === state && findKeyDefinition(key) === definition)

const isDefinitionInUse = (keys: readonly OwnKey[], definition: OwnKeyDefinition): boolean =>
  !definition.onDemand || REQUIRED_KEY_STATES.some((state) => findKeyInState(keys, definition, state) !== undefined)

/** The result of replacing the key of one definition, with the kids of its keys. */
export interface RotatedKey {
  readonly use: OwnKeyUse
  readonly algorithm: string
  readonly retired: string
  readonly active: string
  readonly next: string
  /** Seconds between the making and the activation of the new active key. A published key was public for so long. */
  readonly published_for: number
}

/**
 * Retires the active keys, makes the next keys active, and makes new next keys. Erases the encrypted JWKs of retired keys that
 * have expired.
 * @param wanted selects the definitions; of these, only the ones that are in use get new keys
 */
export async function rotateOwnKeys(
  db: Database,
  vault: Vault,
  wanted: (definition: OwnKeyDefinition) => boolean = () => true,
): Promise<readonly RotatedKey[]> {
  await ensureOwnKeys(db, vault)
  const keys = await listOwnKeys(db)
  const definitions = OWN_KEY_DEFINITIONS.filter((row) => wanted(row) && isDefinitionInUse(keys, row))
  const rotated = await withCurrentMasterKey(async () => {
    const made = await Promise.all(
      definitions.map(async (definition) => ({ definition, fresh: await makeNewOwnKey(definition, vault) })),
    )
    return changeOwnKeys(db, async (change) => {
      const done: RotatedKey[] = []
      for (const { definition, fresh } of made) done.push(await rotateKey(change, definition, fresh, vault))
      return done
    })
  })
  await eraseExpiredOwnKeys(db)
  return rotated
}

async function rotateKey(
  change: OwnKeyTransaction,
  definition: OwnKeyDefinition,
  fresh: NewOwnKey,
  vault: Vault,
  now = Date.now(),
): Promise<RotatedKey> {
  const keys = await change.list()
  const [active, next] = REQUIRED_KEY_STATES.map((state) => findKeyInState(keys, definition, state))
  if (active === undefined || next === undefined) throw new Error('a key is missing that was there before')
  await change.retire(active.kid, definition.overlap, await encryptRetiredJwk(definition, active, vault))
  await change.activate(next.kid)
  await change.add(fresh, 'next')
  const published_for = Math.max(0, Math.floor((now - next.created_at.getTime()) / 1_000))
  const { use, algorithm } = definition
  return { use, algorithm, retired: active.kid, active: next.kid, next: fresh.kid, published_for }
}

/**
 * Revokes a key: within a second no node accepts it, and its private half is erased. If it was active, the next key
 * takes its place. Revoking a key again changes nothing.
 * @throws StoreRefusal there is no such key
 */
export async function revokeOwnKey(db: Database, vault: Vault, kid: string): Promise<OwnKey> {
  const key = (await listOwnKeys(db)).find((candidate) => candidate.kid === kid)
  if (key === undefined) throw new StoreRefusal(`none of our keys has the kid ${kid}`)
  const definition = findKeyDefinition(key)
  return withCurrentMasterKey(async () => {
    const fresh = definition && (await makeNewOwnKey(definition, vault))
    return changeOwnKeys(db, async (change) => {
      const before = await change.list()
      const state = before.find((candidate) => candidate.kid === kid)?.state
      if (state !== 'revoked') await change.revoke(kid)
      if (definition !== undefined && fresh !== undefined && REQUIRED_KEY_STATES.some((current) => current === state)) {
        const next = findKeyInState(before, definition, 'next')
        if (state === 'active' && next !== undefined) await change.activate(next.kid)
        await change.add(fresh, 'next')
      }
      const after = (await change.list()).find((candidate) => candidate.kid === kid)
      return after ?? key
    })
  })
}

async function makeNewOwnKey(definition: OwnKeyDefinition, vault: Vault): Promise<NewOwnKey> {
  const { kid, private_jwk } = await generateKey(definition)
  return { kid, use: definition.use, algorithm: definition.algorithm, sealed: await encryptJwk(kid, private_jwk, vault) }
}

/** The encrypted JWK to keep of a retired key: the public half alone, unless the definition keeps the private half. */
async function encryptRetiredJwk(definition: OwnKeyDefinition, key: OwnKey, vault: Vault): Promise<Buffer> {
  const jwk = await decryptJwk(key, vault)
  return encryptJwk(key.kid, definition.keepPrivate ? jwk : publicHalf(jwk), vault)
}
