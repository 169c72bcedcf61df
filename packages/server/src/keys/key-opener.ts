/** From the rows of own keys to keys that can be used. */
import type { CryptoKey, JWK } from 'jose'
import type { Log } from '../observe/log.ts'
import type { Database } from '../store/db/database.ts'
import { isUnavailable } from '../store/db/database-errors.ts'
import { listLiveOwnKeys, type OwnKey } from '../store/keys/own-keys.ts'
import { importKey, type OwnKeyRow, publicHalf, rowOf } from './own-key-rows.ts'
import { openJwk } from './sealed-jwk.ts'
import type { Vault } from './vault.ts'

export interface LiveKey {
  readonly row: OwnKeyRow
  readonly kid: string
  readonly active: boolean
  readonly material: KeyMaterial
}

export interface KeyMaterial {
  readonly public_jwk: JWK
  readonly publicKey: CryptoKey
  /** Null for a key that signs no more: it is erased. */
  readonly privateKey: CryptoKey | null
}

/**
 * Reads the live keys; what was opened before is not opened again, as long as it lives. A key
 * that does not open is none: nothing unsealed in the database can make somebody else's key one of ours.
 */
export function keyOpener(db: Database, vault: Vault, log: Log) {
  let held = new Map<string, KeyMaterial>()
  const told = new Set<string>()

  const open = async (key: OwnKey): Promise<KeyMaterial | null> => {
    try {
      return await openKey(key, vault)
    } catch (error) {
      if (isUnavailable(error)) throw error
      if (!told.has(key.kid)) log.error({ kid: key.kid, error: nameOf(error) }, 'an own key cannot be opened')
      told.add(key.kid)
      return null
    }
  }

  return async (): Promise<{ live: readonly LiveKey[]; closed: readonly string[] }> => {
    const next = new Map<string, KeyMaterial>()
    const live: LiveKey[] = []
    const closed: string[] = []
    for (const key of await listLiveOwnKeys(db)) {
      const row = rowOf(key)
      if (row === undefined) continue
      const material = held.get(key.kid) ?? (await open(key))
      if (material === null) {
        closed.push(key.kid)
        continue
      }
      next.set(key.kid, material)
      live.push({ row, kid: key.kid, active: key.state === 'active', material })
    }
    held = next
    return { live, closed }
  }
}

async function openKey(key: OwnKey, vault: Vault): Promise<KeyMaterial> {
  const jwk = await openJwk(key, vault)
  const public_jwk = publicHalf(jwk)
  return {
    public_jwk,
    publicKey: await importKey(public_jwk, key.algorithm),
    privateKey: jwk.d === undefined ? null : await importKey(jwk, key.algorithm),
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error)
