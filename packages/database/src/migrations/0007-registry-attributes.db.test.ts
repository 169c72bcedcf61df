import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { openDatabase } from '../database.ts'
import { directory } from './0001-directory.ts'
import { registryAttributes } from './0007-registry-attributes.ts'
import { recordTombstones } from './0008-record-tombstones.ts'
import { slowSearches } from './0009-slow-searches.ts'

test('a registry that is there already counts its days in UTC, and takes everything of its own along when it goes', async () => {
  const empty = await emptyDatabase()
  const db = openDatabase(empty.connection)
  // Migrations see a database without types: what its tables are is what they change.
  const untyped = db.kysely as unknown as Kysely<unknown>
  await directory.up(untyped)
  await db.pool.query(`insert into registry (namespace, kind, sender_id) values ('a', 'civil', 'a.example')`)
  await registryAttributes.up(untyped)
  await recordTombstones.up(untyped)
  await slowSearches.up(untyped)
  const { rows } = await db.pool.query('select namespace, time_zone from registry')
  expect(rows).toEqual([{ namespace: 'a', time_zone: 'UTC' }])

  await db.pool.query(`insert into registry_attribute (registry, record_type, name, definition)
    values (1, 'Person', 'district', '{"type": "text"}')`)
  await db.pool.query(`insert into column_fill (registry, record_type, name) values (1, 'Person', 'district')`)
  await db.pool.query(`insert into record_tombstone (registry, record_type, record, primary_identifier)
    values (1, 'Person', 7, 'A-7')`)
  await db.pool.query(`insert into slow_search values (1, 'Person', '{district}', 2, 700, 400, now())`)
  await db.pool.query('delete from registry')
  const left = ['registry_attribute', 'column_fill', 'record_tombstone', 'slow_search'].map((table) =>
    db.pool.query(`select from ${table}`).then(({ rowCount }) => rowCount),
  )
  expect(await Promise.all(left)).toEqual([0, 0, 0, 0])

  await db.close()
  await empty.drop()
})
