/** A database with something of everything, its backup, and databases to restore it into. */
import { createSecretKey } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NO_APPROVAL_NEEDED } from '@rollcall/admin/act'
import { makeBackup } from '@rollcall/admin/backup/backup'
import type { RestoreDeps } from '@rollcall/admin/backup/restore'
import { publishEvent } from '@rollcall/admin/events/publish'
import { erasePerson } from '@rollcall/admin/persons/erase'
import { createJournal } from '@rollcall/backup/journal/journal'
import { listTables, tableNameSql } from '@rollcall/backup/store/catalog'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { type Database, openDatabase } from '@rollcall/database/database'
import { type MasterKeySource, masterKeyFromEnvironment } from '@rollcall/keys/master-key'
import { addRegistry } from '@rollcall/records/registries/registries'
import { inject, onTestFinished } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { subscribeLive } from '../../delivery/test/subscriptions.ts'
import { emptyDatabase, masterKeyOfRun, startedDatabase, type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { auditEntry, testAuditLog, vaultOf } from '../../settings/test/audit-log.ts'
import { writeDocuments } from './server.ts'

/** The master keys that a command has in its environment. */
export const masterKeys = (key = masterKeyOfRun(), newKey?: string): MasterKeySource =>
  masterKeyFromEnvironment({
    masterKey: createSecretKey(key, 'base64'),
    newMasterKey: newKey === undefined ? undefined : createSecretKey(newKey, 'base64'),
  })

/** A folder for the files of one test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'rollcall-backup-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

export type Place = Pick<TestDatabase, 'connection' | 'owner' | 'db'> & { readonly ownerDb: Database }

/** A new database with empty tables, with both roles: who restores into it need not wait for all the migrations. */
export async function target(): Promise<Place> {
  const database = await testDatabase()
  onTestFinished(() => database.close())
  return place(database)
}

/** A new database without tables, with both roles. */
export async function emptyTarget(): Promise<Place> {
  const { connection: owner, drop } = await emptyDatabase()
  const connection = { ...inject('application'), database: owner.database }
  const [db, ownerDb] = [openDatabase(connection), openDatabase(owner)]
  onTestFinished(async () => {
    await Promise.all([db.close(), ownerDb.close()])
    await drop()
  })
  return { connection, owner, db, ownerDb }
}

/** The database of a test, with both roles. */
export function place({ connection, owner, db }: TestDatabase): Place {
  const ownerDb = openDatabase(owner)
  onTestFinished(() => ownerDb.close())
  return { connection, owner, db, ownerDb }
}

/** The dependencies of a command on a database. @param journal the file of its journal (default: no journal) */
export function depsOf({ db, ownerDb }: Place, journal?: string): RestoreDeps {
  const auditLog = testAuditLog(db)
  onTestFinished(() => auditLog.close())
  const vault = () => vaultOf(db)
  return {
    db: journal === undefined ? db : { ...db, journal: createJournal({ db, vault, path: journal }) },
    owner: ownerDb,
    vault,
    auditLog,
    caller: { kind: 'shell', user: 'tester' } as const,
    approvals: NO_APPROVAL_NEEDED,
    limits: DEFAULT_LIMITS,
    masterKeys: masterKeys(),
  }
}

export const person = (uin: string, surname = `Okoro ${uin}`) => ({
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { surname },
  birth_date: '1990-05-05',
})

/** Texts with characters that are hard to write in one line. */
const SURNAMES = ['Okoro', 'tab\tline\nback\\slash \\. \\N', 'Ω ☃ "quoted"', '']

export interface World extends Place {
  readonly civil: Registry
  /** Adds a record with an event, which a subscription waits for. */
  publish(uin: string): Promise<void>
}

/** Two registries, people with an event and waiting notifications, an audit entry. */
export async function world(): Promise<World> {
  const database = await startedDatabase()
  onTestFinished(() => database.close())
  const at = place(database)
  const { db } = database
  const civil = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  await addRegistry(db, { namespace: 'social', kind: 'social', sender_id: 'social.example' })
  await writeDocuments(
    database,
    civil,
    SURNAMES.map((surname, index) => person(String(index + 1), surname)),
  )
  await subscribeLive(db, civil, 'MARRIAGE')
  const deps = depsOf(at)
  const publish = async (uin: string): Promise<void> => {
    const record = person(uin)
    await publishEvent(acting(deps), { namespace: 'civil', reg_event_type: 'MARRIAGE', record })
  }
  await publish('1')
  await audited(deps, '1')
  return { ...at, civil, publish }
}

/** Writes a backup into a new file. */
export async function backupOf(from: Place, name = 'one.backup', deps = depsOf(from)): Promise<string> {
  const file = join(await folder(), name)
  await makeBackup(acting(deps), { file })
  return file
}

/** Every row of every table, as texts. */
export async function allRows({ ownerDb }: Place): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>()
  for (const table of await listTables(ownerDb.pool)) {
    const { rows } = await ownerDb.pool.query<{ row: string }>(
      `select to_jsonb(one)::text as row from ${tableNameSql(table)} as one order by 1`,
    )
    found.set(
      tableNameSql(table).replaceAll('"', ''),
      rows.map(({ row }) => row),
    )
  }
  return found
}

const IN_SCHEMAS = `nspname in ('public', 'rollcall_outbox')`
const NOT_COMPARED = `relname not like 'rollcall_migration%'`

/** Everything that the catalog says of tables, their owners and rights, in lines. */
const CATALOG = `
  select format('%s %s owner %s rights %s kind %s options %s', nspname, relname, relowner::regrole, relacl, relkind, reloptions) as line
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace where ${IN_SCHEMAS} and ${NOT_COMPARED}
  union all
  select format('%s.%s %s %s null %s generated %s identity %s default %s compression %s rights %s', relname, attname,
    format_type(atttypid, atttypmod), attcollation::regcollation, not attnotnull, attgenerated, attidentity,
    pg_get_expr(adbin, adrelid), attcompression, attacl)
  from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where ${IN_SCHEMAS} and relkind = 'r' and attnum > 0 and not attisdropped
  union all
  select format('%s constraint %s %s %s', relname, conname, convalidated, pg_get_constraintdef(pg_constraint.oid))
  from pg_constraint join pg_class on pg_class.oid = conrelid join pg_namespace on pg_namespace.oid = relnamespace
  where ${IN_SCHEMAS} and ${NOT_COMPARED}
  union all
  select pg_get_indexdef(indexrelid) || indisvalid from pg_index join pg_class on pg_class.oid = indrelid
    join pg_namespace on pg_namespace.oid = relnamespace where ${IN_SCHEMAS} and ${NOT_COMPARED}
  union all
  select format('%s %s', pg_get_triggerdef(pg_trigger.oid), tgenabled) from pg_trigger
    join pg_class on pg_class.oid = tgrelid join pg_namespace on pg_namespace.oid = relnamespace
  where ${IN_SCHEMAS} and not tgisinternal
  union all
  select format('%s owner %s', pg_get_functiondef(pg_proc.oid), proowner::regrole) from pg_proc
    join pg_namespace on pg_namespace.oid = pronamespace where ${IN_SCHEMAS}
  union all
  select format('schema %s owner %s rights %s', nspname, nspowner::regrole, nspacl) from pg_namespace where ${IN_SCHEMAS}
  order by line`

export async function catalogOf({ ownerDb }: Place): Promise<readonly string[]> {
  const { rows } = await ownerDb.pool.query<{ line: string }>(CATALOG)
  return rows.map(({ line }) => line)
}

/** An audit entry about a person, as it is written for an answer. */
export async function audited(deps: RestoreDeps, value: string): Promise<void> {
  await deps.auditLog.write(auditEntry({ operation: 'search' }), [{ role: 'seen', identifiers: [{ type: 'UIN', value }] }])
}

export const erased = (deps: RestoreDeps, value: string) =>
  erasePerson(acting(deps), { type: 'UIN', value, reason: 'order 12/2026' })
