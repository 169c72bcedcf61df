/** The audit entries that a test's server has written, and an audit log in memory for tests of a part alone. */

import { type ClosableAuditLog, createAuditLog } from '@rollcall/audit/audit-log'
import type { WitnessAddress } from '@rollcall/audit/witness-target'
import type { Limits } from '@rollcall/core/limits'
import type { AuditEntry, AuditedPerson, AuditLog, PersonRole, StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import type { Database } from '@rollcall/database/database'
import type { Vault } from '@rollcall/keys/vault'
import { readConfig } from '@rollcall/settings/config'
import { openVault } from '@rollcall/settings/storage'
import {
  ENTRIES_WITH_CONTENT_SQL,
  entryTextOf,
  STORED_ENTRY_COLUMNS,
  type StoredEntry,
} from '../../audit/src/store/entry-shape.ts'
import { personRowsSql } from '../../audit/src/store/packed-persons.ts'
import { masterKeyOfRun } from '../../keys/test/postgres.ts'
import { type TestClock, testClock } from '../../observe/test/clock.ts'

export { auditEntry } from '../../audit/test/audit-entry.ts'

export interface LoggedEntry {
  readonly chain: string
  readonly sequence: number
  readonly at: Date
  readonly entry: StoredAuditEntry
  /** A row for each identifier; its pseudonym in hexadecimal. */
  readonly persons: readonly { readonly role: PersonRole; readonly pseudonym: string }[]
}

const config = readConfig({ ROLLCALL_MASTER_KEY: masterKeyOfRun(), DATABASE_URL: 'postgres://test' })

/** The vault of a database that `startedDatabase` made. */
export const vaultOf = (db: Database): Promise<Vault> => openVault(config, db)

export interface TestAuditLog extends ClosableAuditLog {
  /** The clock of this process: `pass` lets time pass, by which checkpoints become due. */
  readonly clock: TestClock
  /** Counted results, such as `witnessed failed`. */
  readonly counted: readonly string[]
  /** The messages that were logged. */
  readonly logged: readonly string[]
  /** Checkpoints that the witness has not taken. */
  unwitnessed(): number
}

/** The audit log of a process on a database that `startedDatabase` made. */
export function testAuditLog(
  db: Database,
  { witness = null, limits = {} }: { readonly witness?: WitnessAddress | null; readonly limits?: Partial<Limits> } = {},
): TestAuditLog {
  const clock = testClock()
  const counted: string[] = []
  const logged: string[] = []
  let unwitnessed = 0
  const log = (_: object, message?: string) => void logged.push(String(message ?? _))
  const auditLog = createAuditLog({
    db,
    clock,
    witness,
    vault: () => vaultOf(db),
    limits: { ...config.limits, ...limits },
    log: { error: log, info: log },
    metrics: {
      audited: (outcome, entries) => void counted.push(`audited ${outcome} ${entries}`),
      checkpointMade: (outcome) => void counted.push(`checkpoint ${outcome}`),
      witnessed: (outcome, waiting) => {
        counted.push(`witness ${outcome}`)
        unwitnessed = waiting
      },
    },
  })
  return { ...auditLog, clock, counted, logged, unwitnessed: () => unwitnessed }
}

/** Every entry in the database; those of each chain in order, the chain that began first is first. */
export async function storedEntries({ pool }: Pick<Database, 'pool'>): Promise<readonly LoggedEntry[]> {
  const { rows } = await pool.query<Omit<LoggedEntry, 'entry'> & StoredEntry>(
    `select chain, sequence, at, ${STORED_ENTRY_COLUMNS}, coalesce((select json_agg(
        json_build_object('role', role, 'pseudonym', encode(pseudonym, 'hex')) order by position)
        from ${personRowsSql()} as person where person.chain = account.chain and person.sequence = account.sequence
      ), '[]') as persons
      from ${ENTRIES_WITH_CONTENT_SQL} order by min(at) over (partition by chain), chain, sequence`,
  )
  return rows.map(({ chain, sequence, at, persons, ...stored }) => ({
    chain,
    sequence,
    at,
    persons,
    entry: JSON.parse(entryTextOf(stored) ?? ''),
  }))
}

/** The number of persons in all entries, without erased ones. */
export async function countPersons({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(`select count(*) from ${personRowsSql()} as person`)
  return rows[0]?.count ?? 0
}

/** An audit log in memory. */
export function memoryAuditLog(): AuditLog & {
  readonly written: { readonly entry: AuditEntry; readonly persons: readonly AuditedPerson[] }[]
} {
  const written: { entry: AuditEntry; persons: readonly AuditedPerson[] }[] = []
  return {
    written,
    async write(entry, persons) {
      written.push({ entry, persons })
    },
  }
}
