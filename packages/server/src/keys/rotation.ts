/**
 * The life of our own keys. Each row of `OWN_KEY_ROWS` has an active key and the next, which is published with it:
 * when the next becomes active, peers know it.
 */
import type { Database } from '../store/db/database.ts'
import { StoreRefusal } from '../store/db/refusal.ts'
import { withCurrentMasterKey } from '../store/keys/master-keys.ts'
import {
  changeOwnKeys,
  eraseExpired,
  listOwnKeys,
  type NewOwnKey,
  type OwnKey,
  type OwnKeyChange,
} from '../store/keys/own-keys.ts'
import {
  generateKey,
  OWN_KEY_ROWS,
  type OwnKeyRow,
  type OwnKeyUse,
  publicHalf,
  rowOf,
} from './own-key-rows.ts'
import { openJwk, sealJwk } from './sealed-jwk.ts'
import type { Vault } from './vault.ts'

const CURRENT = ['active', 'next'] as const

/** Makes the keys that are missing; of several nodes that do so at once one makes each. */
export async function ensureOwnKeys(db: Database, vault: Vault): Promise<void> {
  const lacking = missingKeys(await listOwnKeys(db))
  if (lacking.length === 0) return
  await withCurrentMasterKey(async () => {
    const made = await Promise.all(
      lacking.map(async ({ row, state }) => ({ row, state, key: await newKey(row, vault) })),
    )
    await changeOwnKeys(db, async (change) => {
      const still = missingKeys(await change.list())
      for (const { row, state, key } of made) {
        if (still.some((other) => other.row === row && other.state === state)) await change.add(key, state)
      }
    })
  })
}

function missingKeys(keys: readonly OwnKey[]): { row: OwnKeyRow; state: (typeof CURRENT)[number] }[] {
  return OWN_KEY_ROWS.flatMap((row) =>
    CURRENT.filter((state) => currentKey(keys, row, state) === undefined).map((state) => ({ row, state })),
  )
}

const currentKey = (keys: readonly OwnKey[], row: OwnKeyRow, state: OwnKey['state']): OwnKey | undefined =>
  keys.find((key) => key.state === state && rowOf(key) === row)

/** What a rotation did for one row. */
export interface Rotated {
  readonly use: OwnKeyUse
  readonly algorithm: string
  readonly retired: string
  readonly active: string
  readonly next: string
  /** Seconds that the key which is active now had been published before. */
  readonly published_for: number
}

/** The next keys become active, the active ones retire, new next ones are made. */
export async function rotateOwnKeys(
  db: Database,
  vault: Vault,
  wanted: (row: OwnKeyRow) => boolean = () => true,
): Promise<readonly Rotated[]> {
  await ensureOwnKeys(db, vault)
  const rows = OWN_KEY_ROWS.filter(wanted)
  const rotated = await withCurrentMasterKey(async () => {
    const made = await Promise.all(rows.map(async (row) => ({ row, fresh: await newKey(row, vault) })))
    return changeOwnKeys(db, async (change) => {
      const done: Rotated[] = []
      for (const { row, fresh } of made) done.push(await rotateRow(change, row, fresh, vault))
      return done
    })
  })
  await eraseExpired(db)
  return rotated
}

async function rotateRow(
  change: OwnKeyChange,
  row: OwnKeyRow,
  fresh: NewOwnKey,
  vault: Vault,
): Promise<Rotated> {
  const keys = await change.list()
  const [active, next] = CURRENT.map((state) => currentKey(keys, row, state))
  if (active === undefined || next === undefined) throw new Error('a key is missing that was there before')
  await change.retire(active.kid, row.overlap, await retiredKey(row, active, vault))
  await change.activate(next.kid)
  await change.add(fresh, 'next')
  const published_for = Math.max(0, Math.floor((Date.now() - next.created_at.getTime()) / 1_000))
  const { use, algorithm } = row
  return { use, algorithm, retired: active.kid, active: next.kid, next: fresh.kid, published_for }
}

/**
 * Revokes a key: within a second no node takes it any more, and its private half is gone. An active key's place
 * is taken by the next. Revoking a key once more changes nothing.
 * @throws StoreRefusal there is no such key
 */
export async function revokeOwnKey(db: Database, vault: Vault, kid: string): Promise<OwnKey> {
  const key = (await listOwnKeys(db)).find((candidate) => candidate.kid === kid)
  if (key === undefined)
    throw new StoreRefusal(`none of our keys has the kid ${kid}; rollcall keys list shows them`)
  const row = rowOf(key)
  return withCurrentMasterKey(async () => {
    const fresh = row && (await newKey(row, vault))
    return changeOwnKeys(db, async (change) => {
      const before = await change.list()
      const state = before.find((candidate) => candidate.kid === kid)?.state
      if (state !== 'revoked') await change.revoke(kid)
      if (row !== undefined && fresh !== undefined && CURRENT.some((current) => current === state)) {
        const next = currentKey(before, row, 'next')
        if (state === 'active' && next !== undefined) await change.activate(next.kid)
        await change.add(fresh, 'next')
      }
      const after = (await change.list()).find((candidate) => candidate.kid === kid)
      return after ?? key
    })
  })
}

async function newKey(row: OwnKeyRow, vault: Vault): Promise<NewOwnKey> {
  const { kid, private_jwk } = await generateKey(row)
  return { kid, use: row.use, algorithm: row.algorithm, sealed: await sealJwk(kid, private_jwk, vault) }
}

/** What is left of a key that retires: a signing key keeps its public half alone. */
async function retiredKey(row: OwnKeyRow, key: OwnKey, vault: Vault): Promise<Buffer> {
  const jwk = await openJwk(key, vault)
  return sealJwk(key.kid, row.keepPrivate ? jwk : publicHalf(jwk), vault)
}
