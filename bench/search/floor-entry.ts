/** The entry of a floor: a row in a table of its own. Rows that come while a statement runs go together into the next. */
import { randomBytes } from 'node:crypto'
import { groupCommit } from '@rollcall/database/group-commit'
import type { Storage } from '@rollcall/settings/storage'

/** Characters of a row. */
const ENTRY = 'x'.repeat(1_000)

/** Makes what commits a row each time it is called, in a statement of its own as the entry of ours is. */
export async function entryWriter({ db: { pool }, owner }: Storage): Promise<() => Promise<void>> {
  await owner.pool.query(`create table if not exists floor_row (
      id bigint generated always as identity primary key, at timestamptz not null default now(), entry text not null,
      hash bytea not null
    )`)
  await owner.pool.query('grant insert on floor_row to public')
  const group = groupCommit<string, void>(
    async (entries) => {
      await pool.query({
        name: 'write floor rows',
        text: 'insert into floor_row (entry, hash) select * from unnest($1::text[], $2::bytea[])',
        values: [entries, entries.map(() => randomBytes(32))],
      })
      return entries.map(() => undefined)
    },
    { waiting: 10_000 },
  )
  return () => group.submit(ENTRY)
}
