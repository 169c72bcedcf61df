/** The entry of a floor: a row in a table of its own. Rows that come while a statement runs go together into the next. */
import { randomBytes } from 'node:crypto'
import { createGroupCommit } from '@rollcall/database/group-commit'
import type { NewExchange } from '@rollcall/engine/store/exchanges/exchanges'
import type { DatabaseConnections } from '@rollcall/settings/storage'

/** Characters of a row. */
const ENTRY = 'x'.repeat(1_000)

async function makeTable({ owner }: DatabaseConnections): Promise<void> {
  await owner.pool.query(`create table if not exists floor_row (
      id bigint generated always as identity primary key, at timestamptz not null default now(), entry text not null,
      hash bytea not null
    )`)
  await owner.pool.query('grant insert on floor_row to public')
}

/** Makes what commits a row each time it is called, in a statement of its own as the entry of ours is. */
export async function entryWriter(storage: DatabaseConnections): Promise<() => Promise<void>> {
  const { pool } = storage.db
  await makeTable(storage)
  const group = createGroupCommit<string, void>(
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

/** Makes what commits a row together with the one that remembers a message. It takes every message for a new one. */
export async function jointWriter(storage: DatabaseConnections): Promise<(exchange: NewExchange) => Promise<void>> {
  const { pool } = storage.db
  await makeTable(storage)
  const group = createGroupCommit<NewExchange, void>(
    async (exchanges) => {
      const column = (name: keyof NewExchange) => exchanges.map((exchange) => exchange[name])
      await pool.query({
        name: 'write floor rows and exchanges',
        text: `with rows as (insert into floor_row (entry, hash) select * from unnest($1::text[], $2::bytea[]))
          insert into exchange (participant, message_id, fingerprint, correlation_id, registry, operation, transaction_id)
          select * from unnest($3::integer[], $4::text[], $5::bytea[], $6::uuid[], $7::integer[], $8::text[], $9::text[])
          on conflict do nothing`,
        values: [
          ...[exchanges.map(() => ENTRY), exchanges.map(() => randomBytes(32))],
          ...[column('participant'), column('message_id'), column('fingerprint'), column('correlation_id')],
          ...[column('registry'), column('operation'), column('transaction_id')],
        ],
      })
      return exchanges.map(() => undefined)
    },
    { waiting: 10_000 },
  )
  return (exchange) => group.submit(exchange)
}
