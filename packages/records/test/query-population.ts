/** Many records of the type of `query-fixture.ts`, made by the database itself. */
import type { Database } from '@rollcall/database/database'
import { declaredIndexes, ensureRecordTables, indexStatement } from '@rollcall/records/records/record-tables'
import { registry, table } from './query-fixture.ts'

/** Makes the tables and fills them; indexes come last, which takes a third of the time. */
export async function writePopulation(db: Database, records: number): Promise<void> {
  await ensureRecordTables(db, registry)
  const indexes = declaredIndexes(table)
  await db.pool.query(`drop index ${indexes.map(({ name }) => name).join(', ')}`)
  await db.pool.query(
    `insert into r1_test_person (primary_identifier, document, surname, sex, born_from, born_to, seen, score, alive,
       tag, visit, married_from, married_to, note, crop)
     select 'U' || n, '{"n":' || n || ',"filler":"' || repeat('x', 300) || '"}', 's' || n % 5000, 'x' || n % 50,
       day, case when n % 10 = 0 then day + 27 else day end, instant, n / 10.0, n % 50 = 0,
       array['t' || n % 5000, 'common'], array[instant], array[day], array[day], 'n' || n,
       jsonb_build_array(
         jsonb_build_object('crop_type', 'c' || n % 1000, 'area', n % 50, 'sown_from', day, 'sown_to', day),
         jsonb_build_object('crop_type', 'common', 'watered', to_char(instant, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))
     from (
       select n, date '1950-01-01' + n % 20000 as day,
         timestamptz '2020-01-01T00:00:00Z' + n * interval '1 hour' as instant
       from generate_series(1, $1::int) as n
     ) as made`,
    [records],
  )
  await db.pool.query(
    `insert into r1_test_person_identifier
     select 'UIN', primary_identifier, id, true from r1_test_person
     union all select 'MOBILE', '+' || id % 5000, id, true from r1_test_person`,
  )
  for (const index of indexes) await db.pool.query(indexStatement(table, index))
  await db.pool.query('analyze')
}
