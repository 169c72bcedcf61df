/** The triggers on real PostgreSQL: what they write is published, or rolled back with what they belong to. */
import { readFile } from 'node:fs/promises'
import { publishOutbox } from '@rollcall/admin/events/outbox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { query as queryAs } from '../../packages/database/test/statement.ts'
import { type TestServer, testServer } from '../../packages/server/test/server.ts'

let server: TestServer
const query = (text: string) => server.database.db.pool.query(text)
/** As the owner of the database, whose schema is the registry system's. */
const inRegistry = (text: string) => queryAs(server.database.owner, text)

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  for (const file of ['registry.sql', 'trigger.sql']) {
    await inRegistry(await readFile(new URL(file, import.meta.url), 'utf8'))
  }
})
afterAll(() => server.close())

/** Publishes the waiting events, and returns them in order. */
async function published(): Promise<readonly object[]> {
  const before = await query('select coalesce(max(id), 0) as last from event')
  await publishOutbox(server.context, new AbortController().signal)
  const { rows } = await query(
    `select event_type, event_id, occurred_at::date::text from event where id > ${before.rows[0].last} order by id`,
  )
  return rows
}

test('a birth and a death are published with what identifies them', async () => {
  await inRegistry(
    "insert into crvs.person (uin, surname, given_name, sex, born_on) values ('8128560370', 'Okoro', 'Ada', 'female', '1950-03-01')",
  )
  await inRegistry("insert into crvs.death (number, uin, died_on) values ('D-1', '8128560370', '2026-02-03')")
  expect(await published()).toEqual([
    { event_type: 'LiveBirth', event_id: 'person-1', occurred_at: '1950-03-01' },
    { event_type: 'Death', event_id: 'death-1', occurred_at: '2026-02-03' },
  ])
  const { rows } = await query(`select document from r${(await registryId()).toString()}_person`)
  expect(rows.map(({ document }) => JSON.parse(document))).toMatchObject([
    {
      name: { surname: 'Okoro', given_name: 'Ada' },
      death_date: '2026-02-03',
      identifier: [{ identifier_type: 'UIN' }, { identifier_type: 'DRN', identifier_value: 'D-1' }],
    },
  ])
})

const registryId = async (): Promise<number> => (await query("select id from registry where namespace = 'civil'")).rows[0].id

test('what is rolled back is not published', async () => {
  await inRegistry(
    `begin; insert into crvs.person (uin, surname, given_name, sex, born_on) values ('1', 'A', 'B', 'male', '2026-01-01'); rollback`,
  )
  expect(await published()).toEqual([])
})
