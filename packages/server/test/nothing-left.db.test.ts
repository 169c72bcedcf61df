/** When everything is answered and delivered, no table but those of records says whom it was about. */

import { addOperator } from '@rollcall/admin/operators/operators'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { expect, test, vi } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { runHousekeeping } from '../src/app/housekeeping.ts'
import { accepted, byExpression, callbacksTo, searchFor } from './asynchronous.ts'
import { postSearch, writeDocuments } from './server.ts'
import { about, sentTo, subscribeFor, subscribingServer, TYPES } from './subscribing.ts'

const { server, newPeer } = await subscribingServer({ ROLLCALL_ROLE: 'all' })
const { token } = await addOperator(acting(server.database), { name: 'publisher', roles: ['publish'] })
const { pool } = server.database.db

const UIN = 'UIN-2906417753'
const SURNAME = 'Zwichenmayer'
const record = (uin: string, more: object = {}) => ({
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { surname: SURNAME },
  sex: 'female',
  ...more,
})

/**
 * Tables that hold people as long as they are needed: records, those merged into others, deleted ones, enrolments, the
 * filters of subscriptions, and what a registry system has not handed over yet.
 */
const OF_RECORDS = /^(r\d+_.*|retired_record|record_tombstone|record_source_version|enrolment_ledger|subscription)$/

/** Every row of every other table, as text; bytea once more as the bytes it stands for. */
async function otherTables(): Promise<readonly { readonly table: string; readonly text: string }[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )
  const tables = rows.map(({ name }) => name).filter((name) => !OF_RECORDS.test(name))
  const dumped = await Promise.all(
    tables.map(async (table) => {
      const found = await pool.query<{ text: string }>(`select t::text as text from "${table}" t`)
      const text = found.rows.map((row) => row.text).join('\n')
      const bytes = [...text.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex').toString())
      return { table, text: [text, ...bytes].join('\n') }
    }),
  )
  return dumped
}

const holding = async (word: string): Promise<readonly string[]> =>
  (await otherTables()).filter(({ text }) => text.includes(word)).map(({ table }) => table)

test('after the last delivery nothing names the person', async () => {
  const civil = await requireRegistry(server.database.db, 'civil')
  await writeDocuments(
    server.database,
    civil,
    ['UIN-2', 'UIN-3'].map((uin) => record(uin)),
  )
  const peer = await newPeer()

  // A subscription, and an event that it is notified of.
  const subscribed = await accepted(server, peer, subscribeFor(peer, [about(UIN, {}, 'civil')]), 'subscribe', 'civil')
  await vi.waitFor(() => sentTo(peer, subscribed), { timeout: 60_000 })
  const response = await fetch(`${server.adminUrl}/admin/v1/registries/civil/events`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ reg_event_type: TYPES.civil?.reg_event_type, record: record(UIN) }),
  })
  expect(await response.json()).toMatchObject({ matched: 1 })
  const notified = () => callbacksTo(peer.receiver).filter(({ envelope }) => envelope.header.action === 'notify')
  await vi.waitFor(() => expect(notified()).toHaveLength(1), { timeout: 60_000 })

  // A search at once, and one of several pages, by identifier and by name.
  await postSearch(server, peer, [byExpression({ surname: { eq: SURNAME } })])
  const women = byExpression({ surname: { eq: SURNAME } }, { pagination: { page_size: 1 } })
  const correlation_id = await accepted(server, peer, searchFor(peer, [women, byExpression({ uin: { eq: UIN } })]))
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query(
        `select state, (select count(*) from delivery where state = 'pending') as pending,
          (select count(*) from notification where state = 'waiting') as waiting
          from accepted_exchange where correlation_id = $1`,
        [correlation_id],
      )
      expect(rows).toEqual([{ state: 'replied', pending: 0, waiting: 0 }])
    },
    { timeout: 60_000 },
  )

  const pages = callbacksTo(peer.receiver).filter(({ envelope }) => envelope.header.action === 'on-search')
  expect(pages.length).toBeGreaterThan(2)
  expect(JSON.stringify(pages)).toContain(UIN)
  expect((await pool.query('select from exchange_item where record_ids is not null')).rowCount).toBe(1)
  expect(await holding(UIN)).toEqual(['event'])
  await pool.query(`update event set recorded_at = recorded_at - interval '2 minutes'`)
  await runHousekeeping(server.context, new AbortController().signal)
  expect(await holding(UIN)).toEqual([])
  expect(await holding(SURNAME)).toEqual([])
  const { rows } = await pool.query('select count(*) as n from exchange_item where record_ids is not null')
  expect(rows).toEqual([{ n: 0 }])
  // The tables are read as they are: what they do say is found.
  expect(await holding(correlation_id)).toEqual(expect.arrayContaining(['accepted_exchange', 'exchange_item']))
})
