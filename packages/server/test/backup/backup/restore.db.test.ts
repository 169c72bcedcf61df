/** A backup has everything, and a restore brings everything back. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeBackup } from '@rollcall/admin/backup/backup'
import { restoreDatabase } from '@rollcall/admin/backup/restore'
import { publishEvent } from '@rollcall/admin/events/publish'
import { listSchemaObjects } from '@rollcall/backup/store/catalog'
import { checkSchema, type Database, migrate } from '@rollcall/database/database'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { MIGRATIONS } from '../../../../database/src/migrations/index.ts'
import { memoryAuditLog } from '../../../../settings/test/audit-log.ts'
import { tamper } from '../../../../settings/test/tampering.ts'
import { allRows, backupOf, catalogOf, depsOf, emptyTarget, folder, target, world } from '../../restoring.ts'

const without = { without_journal: 'test' } as const

/** The tables of the audit log have the signed entry of the restore besides; numbers of mailboxes are passed over. */
const masked = (rows: ReadonlyMap<string, readonly string[]>) =>
  new Map(
    [...rows].flatMap(([name, lines]) =>
      name.startsWith('account')
        ? []
        : [[name, name === 'mailbox' ? lines.map((line) => line.replace(/"sequence": \d+/, '')) : lines]],
    ),
  )

test('the restored database has the same catalog and the same rows, and its audit log', async () => {
  const from = await world()
  const file = await backupOf(from)
  const [catalog, rows] = [await catalogOf(from), await allRows(from)]
  expect(rows.get('waiting_notification')).toHaveLength(1)
  const into = await emptyTarget()
  const done = await restoreDatabase(acting(depsOf(into)), { file, ...without })
  expect(done).toMatchObject({ file, journal: null, left_out: [], migrations: [] })
  expect(await catalogOf(into)).toEqual(catalog)
  const restored = await allRows(into)
  expect(masked(restored)).toEqual(masked(rows))
  for (const table of ['account', 'account_entry', 'account_shape', 'account_checkpoint', 'account_key']) {
    expect(restored.get(table)).toEqual(expect.arrayContaining([...(rows.get(table) ?? [])]))
  }
  await checkSchema(into.db)
})

test('no number that was given out is given out again', async () => {
  const from = await world()
  const file = await backupOf(from)
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  const { rows } = await into.ownerDb.pool.query(
    `select nextval(pg_get_serial_sequence('event', 'id')) as event,
      nextval(pg_get_serial_sequence('participant', 'id')) as participant, (select sequence from mailbox) as mailbox`,
  )
  expect(rows).toEqual([{ event: 1_000_000_002, participant: expect.any(Number), mailbox: 1_000_000_000 }])
  expect(Number(rows[0].participant)).toBeGreaterThan(10_000)
})

test('versions of a record grow after a restore, also beyond those that the backup does not have', async () => {
  const from = await world()
  const file = await backupOf(from)
  await from.publish('1')
  const lost = await lastVersion(from)
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  await publishEvent(
    acting(
      // No restore ends in the second of the last event.
      { db: into.db, limits: depsOf(into).limits, now: () => new Date(Date.now() + 1_000) },
    ),
    {
      namespace: 'civil',
      reg_event_type: 'MARRIAGE',
      record: { identifier: [{ identifier_type: 'UIN', identifier_value: '1' }] },
    },
  )
  expect(await lastVersion(into)).toBeGreaterThan(lost)
})

async function lastVersion({ db }: { readonly db: Pick<Database, 'pool'> }): Promise<number> {
  const { rows } = await db.pool.query('select record_version from event order by id desc limit 1')
  return Number(rows[0].record_version)
}

test('a file that is there, and a database that is not empty, are refused', async () => {
  const from = await world()
  const file = await backupOf(from)
  await expect(makeBackup(acting(depsOf(from)), { file })).rejects.toThrow(
    `${file}: is there already; a backup overwrites nothing`,
  )
  await expect(makeBackup(acting(depsOf(from)), { file: join(file, 'x') })).rejects.toThrow(
    `${join(file, 'x')}: cannot be written (ENOTDIR)`,
  )
  await expect(restoreDatabase(acting(depsOf(from)), { file, ...without })).rejects.toThrow(
    /^the database is not empty \("[a-z_]+"\): a backup is restored into a new database$/,
  )
  const foreign = await emptyTarget()
  await tamper({ ...foreign, close: async () => undefined }, 'create function mine() returns int language sql as $$select 1$$')
  await expect(restoreDatabase(acting(depsOf(foreign)), { file, ...without })).rejects.toThrow(
    'the database is not empty ("mine"): a backup is restored into a new database',
  )
})

test('the journal is given, or renounced with a reason', async () => {
  const refusal = /^give either --journal with the files of the journal, or --without-journal with the reason why there is none: /
  const deps = depsOf(await emptyTarget())
  await expect(restoreDatabase(acting(deps), { file: 'x' })).rejects.toThrow(refusal)
  await expect(restoreDatabase(acting(deps), { file: 'x', journal: [], ...without })).rejects.toThrow(refusal)
})

test('a database that was only migrated may be restored into', async () => {
  const file = await backupOf(await world())
  const into = await target()
  await expect(restoreDatabase(acting(depsOf(into)), { file, ...without })).resolves.toMatchObject({ journal: null })
})

test('a backup of a newer version is refused', async () => {
  const from = await world()
  await from.ownerDb.pool.query("insert into rollcall_migration values ('9999-later', '')")
  const file = await backupOf(from)
  const into = await emptyTarget()
  await expect(restoreDatabase(acting(depsOf(into)), { file, ...without })).rejects.toThrow(
    'a newer Rollcall made this backup (9999-later): restore it with that version or a later one',
  )
  expect(await listSchemaObjects(into.ownerDb.pool)).toEqual([])
})

test('a backup of an older version is upgraded; tables that are newer than the backup are refused', async () => {
  const names = Object.keys(MIGRATIONS)
  const [older, later] = [names.filter((name) => name <= '0035-restorations'), names.at(-1) ?? '']
  const from = await emptyTarget()
  await migrate(from.ownerDb, from.db, older)
  // A command of that version made it: this one writes its audit entry in tables that are not there yet.
  const file = await backupOf(from, undefined, { ...depsOf(from), auditLog: memoryAuditLog() })
  const into = await emptyTarget()
  expect((await restoreDatabase(acting(depsOf(into)), { file, ...without })).migrations).toContain(later)
  await checkSchema(into.db)
  const newer = await target()
  await expect(restoreDatabase(acting(depsOf(newer)), { file, ...without })).rejects.toThrow(
    `the tables of this database are newer than the backup (${names.filter((name) => !older.includes(name)).join(', ')}): ` +
      'restore into a database without tables',
  )
})

test('tables with any names are backed up, and only ours are restored', async () => {
  const from = await world()
  const names = ['we"ird; drop table registry; --', '../../etc/passwd', 'a_notes', 'r9_person', "it's"]
  for (const name of names) {
    const quoted = `"${name.replaceAll('"', '""')}"`
    await from.db.pool.query(`create table ${quoted} ("col""umn; --" text)`)
    await from.db.pool.query(`insert into ${quoted} values ('x')`)
  }
  await from.db.pool.query('create table no_columns ()')
  const file = await backupOf(from)
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, ...without })
  expect([...done.left_out].sort()).toEqual([...names, 'no_columns'].sort())
  expect((await allRows(into)).get('r1_person')).toHaveLength(4)
})

test('a column that this version does not have is passed over; one that it has more is to be filled', async () => {
  const from = await world()
  await from.db.pool.query(
    `alter table r1_person add column "old" integer default 7, drop column sex, drop column document;
     alter table r1_person add column document text not null default '{}'`,
  )
  const file = await backupOf(from)
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  const { rows } = await into.db.pool.query(
    `select (select count(*)::int from pg_attribute where attrelid = 'r1_person'::regclass and attname = 'old') as old,
      (select count(*)::int from pg_attribute where attrelid = 'r1_person'::regclass and attname = 'sex') as sex`,
  )
  expect(rows).toEqual([{ old: 0, sex: 1 }])
})

test('a backup that is made while others write is of one moment', async () => {
  const from = await world()
  let writing = true
  const writer = (async () => {
    for (let uin = 1_000; writing; uin += 1) await from.publish(String(uin))
  })()
  await expect.poll(async () => (await allRows(from)).get('event')?.length ?? 0).toBeGreaterThan(10)
  const file = await backupOf(from)
  writing = false
  await writer
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  const { rows } = await into.db.pool.query(
    `select (select count(*)::int from r1_person where length(primary_identifier) >= 4) as records,
      (select count(*)::int - 1 from event) as events, (select count(*)::int - 1 from notification) as notifications,
      (select count(*)::int - 1 from waiting_notification) as waiting`,
  )
  const [{ records }] = rows
  expect(records).toBeGreaterThan(8)
  expect(rows).toEqual([{ records, events: records, notifications: records, waiting: records }])
})

test('what is no backup is refused', async () => {
  const path = await folder()
  const file = join(path, 'x')
  await writeFile(file, 'rollcall-backup 2\n{}\n')
  await expect(restoreDatabase(acting(depsOf(await emptyTarget())), { file, ...without })).rejects.toThrow(
    'the file is no backup of Rollcall, or of a format that this version does not know',
  )
  await expect(restoreDatabase(acting(depsOf(await emptyTarget())), { file: `${file}y`, ...without })).rejects.toThrow(
    `the file ${file}y cannot be read: no such file or directory`,
  )
  await expect(restoreDatabase(acting(depsOf(await emptyTarget())), { file: path, ...without })).rejects.toThrow(
    `the file ${path} cannot be read: it is no regular file`,
  )
})
