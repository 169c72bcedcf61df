/**
 * The floor of an accounted search: that of a signed one, and a row in a table of its own before each answer. Rows that come
 * while a statement runs go together into the next.
 */
import { randomBytes } from 'node:crypto'
import { groupCommit } from '@rollcall/database/group-commit'
import type { openStorage } from '@rollcall/settings/storage'
import { startFloor } from '../search/floor.ts'
import { floorVerifier } from '../search/floor-seal.ts'
import { serveAsChild } from '../shared/server-process.ts'

/** Characters of a row, about as many as an entry has. */
const ENTRY = 'x'.repeat(1_000)

async function rowBeforeAnswer({
  db: { pool },
  owner,
}: Awaited<ReturnType<typeof openStorage>>): Promise<() => Promise<void>> {
  await owner.pool.query(`create table if not exists floor_row (
      id bigint generated always as identity primary key, at timestamptz not null default now(), entry text not null,
      hash bytea not null
    )`)
  await owner.pool.query('grant insert on floor_row to public')
  const group = groupCommit<string, undefined>(
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
  return () => group.submit(ENTRY).then(() => undefined)
}

await serveAsChild(async () => startFloor(await floorVerifier(), rowBeforeAnswer))
