/** An audit log to tamper with: three processes, persons, checkpoints, an erasure and a prune. */

import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { loadAuditKeys } from '@rollcall/audit/keys'
import { encryptEmergencyReview } from '@rollcall/audit/reviews'
import { addEmergencyReview } from '@rollcall/audit/store/reviews'
import { signTombstone, type TombstoneContent } from '@rollcall/audit/tombstones'
import type { AuditLogFault } from '@rollcall/audit/verify/report'
import { type LogVerificationResult, verifyAuditLog } from '@rollcall/audit/verify/verify'
import { openDatabase } from '@rollcall/database/database'
import { onTestFinished } from 'vitest'
import {
  ENTRIES_WITH_CONTENT_SQL,
  entryTextOf,
  STORED_ENTRY_COLUMNS,
  type StoredEntry,
} from '../../audit/src/store/entry-shape.ts'
import { entrySearchKeysOf, erasePackedPersons, unpackPersons } from '../../audit/src/store/packed-persons.ts'
import { auditEntry } from '../../audit/test/audit-entry.ts'
import { query } from '../../database/test/statement.ts'
import { startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { testAuditLog, vaultOf } from './audit-log.ts'

/** A process that writes so many entries, each about two identifiers. */
export async function writeChain(
  { db }: TestDatabase,
  entries: number,
  { every = 4, close = true, at = 0 }: { every?: number; close?: boolean; at?: number } = {},
) {
  const auditLog = testAuditLog(db, { limits: { checkpoint_entries: every } })
  for (let number = 0; number < entries; number += 1) {
    const message = (side: string) => ({
      message_id: `${side}-${at}-${number}`,
      digest: hash('sha256', side),
      kid: null,
      signature: null,
    })
    await auditLog.write(auditEntry({ request: message('theirs'), reply: message('ours') }), [
      { role: 'asked', identifiers: [{ type: 'UIN', value: `${number}` }] },
      { role: 'seen', identifiers: [{ type: 'UIN', value: `${number}` }] },
    ])
    // Checkpoints are made beside the entries: here at known ones.
    const due = Math.floor((number + 1) / every)
    while (auditLog.counted.filter((line) => line === 'checkpoint made').length < due) await setImmediate()
  }
  if (close) await auditLog.close()
  return auditLog
}

export async function chains({ db }: TestDatabase): Promise<readonly string[]> {
  const { rows } = await db.pool.query<{ chain: string }>('select chain from account_checkpoint group by chain order by min(id)')
  return rows.map(({ chain }) => chain)
}

export const verified = async ({ db }: TestDatabase, witness?: readonly string[]): Promise<LogVerificationResult> =>
  verifyAuditLog({ db, vault: await vaultOf(db), witness: witness === undefined ? null : Readable.from(witness) })

export const faults = async (on: TestDatabase, witness?: readonly string[]): Promise<readonly AuditLogFault[]> =>
  (await verified(on, witness)).report.faults

/** The kinds of the faults, each with its place. */
export const places = async (on: TestDatabase, witness?: readonly string[]): Promise<readonly string[]> =>
  (await faults(on, witness)).map(({ kind, chain, sequence, detail }) =>
    [kind, chain, sequence, detail].filter((part) => part !== null).join(' '),
  )

/** Runs a statement as the owner of the database. */
export const tamper = (on: TestDatabase, statement: string, values: unknown[] = []): Promise<unknown> =>
  query(on.owner, statement, values)

/** Inserts a signed tombstone; deleting is left to the caller. */
export async function bury(
  on: TestDatabase,
  content: TombstoneContent,
  change: (signature: Buffer) => Buffer = (signature) => signature,
): Promise<void> {
  const { signer } = await loadAuditKeys(on.db, await vaultOf(on.db))
  const row = signTombstone(signer, content)
  await tamper(on, 'insert into account_tombstone (at, content, kid, signature, chains) values ($1, $2, $3, $4, $5)', [
    row.at,
    row.content,
    row.kid,
    change(row.signature),
    row.chains,
  ])
}

export const AT = '2026-01-01T00:00:00.000Z'

/** Somebody reviews the entry. */
export async function review(on: TestDatabase, chain: string, sequence: number): Promise<void> {
  const { confidential } = await loadAuditKeys(on.db, await vaultOf(on.db))
  const found = { finding: 'Checked', reviewed_by: 'auditor', at: AT }
  await addEmergencyReview(on.db, encryptEmergencyReview(confidential, { chain, sequence }, found))
}

/** Erases a person of an entry, without a tombstone. */
export async function dropPerson(on: TestDatabase, chain: string, sequence: number, position: number): Promise<void> {
  const place = [chain, sequence, position]
  await tamper(on, 'delete from account_person where chain = $1 and sequence = $2 and position = $3', place)
  const [row] = await query(on.owner, 'select persons, keys from account_entry where chain = $1 and sequence = $2', [
    chain,
    sequence,
  ])
  if (row !== undefined) {
    const { packed } = erasePackedPersons(row.persons as Buffer, (_, at) => at === position)
    const keys = `{${entrySearchKeysOf((unpackPersons(packed) ?? []).flatMap(({ person }) => person ?? [])).join()}}`
    await tamper(on, 'update account_entry set persons = $3, keys = $4 where chain = $1 and sequence = $2', [
      ...[chain, sequence, packed, keys],
    ])
  }
}

/** Erases a person of an entry, with its tombstone. */
export async function erase(on: TestDatabase, chain: string, sequence: number, position: number): Promise<void> {
  await dropPerson(on, chain, sequence, position)
  await bury(on, { kind: 'erasure', at: AT, reason: 'test', erased: { [chain]: [[sequence, position]] } })
}

/**
 * Makes entries those of the version before, which had no shapes and rows for persons.
 * @param chain left out: those of all chains
 */
export async function asBefore(on: TestDatabase, chain: string | null = null): Promise<void> {
  type Packed = StoredEntry & { chain: string; sequence: number; at: Date; hash: Buffer; persons: Buffer }
  const owner = openDatabase(on.owner)
  try {
    const { rows } = await owner.pool.query<Packed>(
      `select chain, sequence, at, ${STORED_ENTRY_COLUMNS}, hash, persons from ${ENTRIES_WITH_CONTENT_SQL}
        where persons is not null and chain = coalesce($1, chain)`,
      [chain],
    )
    for (const { chain: of, sequence, at, hash: ofEntry, persons, ...stored } of rows) {
      const runs = unpackPersons(persons) ?? []
      const commitments = Buffer.concat(runs.map(({ commitment }) => commitment))
      await owner.pool.query(
        `insert into account (chain, sequence, at, entry, commitments, hash, message_id, reply_message_id)
          values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [of, sequence, at, entryTextOf(stored), commitments, ofEntry, stored.message_id, stored.reply_message_id],
      )
      for (const [position, { person }] of runs.entries())
        await owner.pool.query(
          `insert into account_person (chain, sequence, position, pseudonym, salt, role)
            select $1, $2, $3, $4, $5, $6 where $4::bytea is not null`,
          [of, sequence, position, person?.pseudonym, person?.salt, person?.role],
        )
    }
    await owner.pool.query('delete from account_entry where chain = coalesce($1, chain)', [chain])
    await owner.pool.query(
      'delete from account_shape where digest not in (select shape from account_entry where shape is not null)',
    )
  } finally {
    await owner.close()
  }
}

/** Prunes the entries of a chain up to one of them. */
export async function prune(on: TestDatabase, chain: string, sequence: number): Promise<void> {
  const [row] = await query(on.owner, `select encode(hash, 'hex') as hash from account where chain = $1 and sequence = $2`, [
    chain,
    sequence,
  ])
  for (const table of ['account', 'account_person'])
    await tamper(on, `delete from ${table} where chain = $1 and sequence <= $2`, [chain, sequence])
  const pruned = [{ chain, sequence, hash: String(row?.hash) }]
  await bury(on, { kind: 'prune', at: AT, reason: 'test', pruned })
}

/** A migrated database for one test. */
export async function database(): Promise<TestDatabase> {
  const made = await startedDatabase()
  onTestFinished(() => made.close())
  return made
}

/**
 * Two processes that ended in order; each made checkpoints at its entries 4 and 8 and at its end.
 * @param before as the version before wrote them
 */
export async function twoChains({ before = false } = {}): Promise<{ on: TestDatabase; chain: string; other: string }> {
  const on = await database()
  await writeChain(on, 10)
  await writeChain(on, 10, { at: 1 })
  if (before) await asBefore(on)
  const [chain = '', other = ''] = await chains(on)
  return { on, chain, other }
}

/** The lines that a witness would have. */
export async function witnessOf({ db }: TestDatabase): Promise<string[]> {
  const { rows } = await db.pool.query(
    `select chain, sequence, encode(hash, 'hex') as hash, content::json ->> 'at' as at,
      (content::json ->> 'ended')::boolean as ended, encode(digest, 'hex') as digest, kid
      from account_checkpoint order by id`,
  )
  return rows.map((row) => `Nov 22 host rollcall: ${JSON.stringify({ rollcall_checkpoint: row })}`)
}
