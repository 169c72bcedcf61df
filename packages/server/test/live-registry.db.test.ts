/** A registry whose records stay in a civil office's own database, from the act that adds it to its answers. */

import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { backfillSubscription } from '@rollcall/admin/events/subscription-mailbox'
import { addRegistry, changeRegistry, listRegistries } from '@rollcall/admin/registries/registries'
import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { importFile } from '@rollcall/import/import-file'
import { protectPerson } from '@rollcall/records/records/protect-person'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { openSources } from '@rollcall/source/open-sources'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { emptyDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { SETTINGS_AGE, testClock } from '../../observe/test/clock.ts'
import { grant } from '../../participants/test/grants.ts'
import { addressOf, makeOffice, officeReader, officeSource } from '../../source/test/office.ts'
import { accepted, answerExchange, asyncPeer, callbacksTo, deliverAll, searchFor } from './asynchronous.ts'
import { postSearch, type TestServer, testServer } from './server.ts'
import { about, codeOf } from './subscribing.ts'

let server: TestServer
let office: Awaited<ReturnType<typeof emptyDatabase>>
let admin: pg.Client
let sources: ReturnType<typeof openSources>
let env: Record<string, string>
let registry: Registry
let peer: Awaited<ReturnType<typeof asyncPeer>>

beforeAll(async () => {
  // The server reads changed settings anew only when a test lets time pass.
  server = await testServer({}, testClock())
  const { db } = server.database
  office = await emptyDatabase()
  await makeOffice(office.connection, [
    { person_no: 1, national_no: 'A1', family_name: 'Okoro', given_name: 'Ada', gender: 2, born: '1985-06-12' },
    { person_no: 2, national_no: 'A2', family_name: 'Obi', gender: 1, born: '1985-06-12', mobile: '+1 555-0100' },
    { person_no: 3, national_no: 'A3', family_name: 'Hidden', gender: 1, born: '1985-06-12' },
  ])
  admin = new pg.Client(office.connection)
  await admin.connect()
  env = { OFFICE: await officeReader(office.connection), OWNER: addressOf(office.connection) }
  sources = openSources(db, env)
  await server.registry('social', [])
  await addRegistry(acting({ db, env }), { kind: 'civil', source: officeSource({ env: 'OFFICE' }) })
  registry = await requireRegistry(db, 'civil')
  await withTransaction(db.pool, (client) =>
    protectPerson(client, registry, {
      identifier: { type: 'UIN', value: 'A3' },
      category: 'shelter',
      reason: 'Order 7',
      bearer: null,
    }),
  )
  peer = await asyncPeer(server, 'peer.example')
})
afterAll(async () => {
  await server.close()
  await sources.close()
  await admin.end()
  await office.drop()
})

const expression = (query: object) => ({ query_type: 'expression', query })
const byUin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
const ask = async (search_criteria: object, by: Parameters<typeof postSearch>[1] = peer) => {
  const answer = await postSearch(server, by, [{ search_criteria }])
  expect(answer.body, JSON.stringify(answer.body)).toHaveProperty('message.search_response')
  return answer.body.message.search_response[0]
}

test('a registry with a source has no tables here, and its settings show the file', async () => {
  expect(registry).toMatchObject({ own_records: false, source: officeSource({ env: 'OFFICE' }) })
  const [civil] = await listRegistries({ db: server.database.db }, {})
  expect(civil).toMatchObject({ namespace: 'civil', records: {}, source: { engine: 'postgresql' } })
})

test('a configuration file has the source, changes nothing here, and adds the registry elsewhere', async () => {
  const { db } = server.database
  const configuration = await exportConfiguration({ db }, {})
  expect(configuration.registries?.civil).toMatchObject({ source: officeSource({ env: 'OFFICE' }) })
  const { vault } = server.context
  const apply = (into: Database, given: object) => applyConfiguration(acting({ db: into, env, vault }), { configuration: given })
  expect((await apply(db, configuration)).changes).toEqual([])
  const { civil } = configuration.registries ?? {}
  const other = await testDatabase()
  try {
    await apply(other.db, { version: 1, registries: { civil } })
    expect(await requireRegistry(other.db, 'civil')).toMatchObject({ own_records: false, source: civil?.source })
  } finally {
    await other.close()
  }
})

test('an account that may write, a fault of the file and a sandbox are refused', async () => {
  const { db } = server.database
  const add = (more: object) => addRegistry(acting({ db, env }), { kind: 'civil', namespace: 'other', ...more })
  await expect(add({ source: officeSource({ env: 'OWNER' }) })).rejects.toThrow(
    /^the account of the source may do more than read: it is a superuser/,
  )
  const refused = { message: 'url: the variable NOBODY is not set', at: ['source', 'url'] }
  await expect(add({ source: officeSource({ env: 'NOBODY' }) })).rejects.toThrow(expect.objectContaining(refused))
  await expect(add({ source: officeSource({ env: 'OFFICE' }), environment: 'sandbox' })).rejects.toThrow(
    'source: a sandbox has synthetic people, and no database of its own',
  )
})

test('people are found by identifiers and conditions, and a row that changes is found as it is', async () => {
  expect(await ask(byUin('a1'))).toMatchObject({
    status: 'succ',
    data: { reg_records: [{ name: { surname: 'Okoro', given_name: 'Ada' }, sex: 'female', birth_date: '1985-06-12' }] },
  })
  const both = expression({ surname: 'OBI', birth_date: '1985-06-12' })
  expect(await ask(both)).toMatchObject({ status: 'succ', pagination: { total_count: 1 } })
  await admin.query("update office.person set family_name = 'Obi-Ade' where person_no = 2")
  expect(await ask(both)).toMatchObject({ pagination: { total_count: 0 } })
  const renamed = { query_type: 'idtype-value', query: { type: 'MOBILE', value: '15550100' } }
  expect(await ask(renamed)).toMatchObject({ data: { reg_records: [{ name: { surname: 'Obi-Ade' } }] } })
})

test('a grant shows and finds no more than it says, and a protected person is not there', async () => {
  const narrow = await server.participant('narrow.example')
  const rows = { Person: { sex: { $eq: 'male' } } }
  await grant(server.database, 'narrow.example', 'civil', { see: ['identifier', 'surname'], ask: 'all', rows })
  expect(await ask(byUin('A1'), narrow)).toMatchObject({ pagination: { total_count: 0 } })
  const found = await ask(byUin('A2'), narrow)
  expect(found.data.reg_records).toEqual([
    { identifier: [{ identifier_type: 'UIN', identifier_value: 'A2' }], name: { surname: 'Obi-Ade' } },
  ])
  expect(await ask(byUin('A3'))).toMatchObject({ pagination: { total_count: 0 } })
  expect(await ask(expression({ birth_date: '1985-06-12' }))).toMatchObject({ pagination: { total_count: 2 } })
})

test('what its columns cannot be asked is refused with the reason', async () => {
  const reason = async (query: object) => (await ask(expression(query))).status_reason_message
  expect(await reason({ surname: 'Okoro' })).toBe(
    'search_criteria.query: surname compares without case and accents, which its database cannot do, and needs a further condition that must hold, on UIN, sex, birth_date, marriage_date, death_date, MOBILE',
  )
  // The advice names nothing that the grant does not have.
  const limited = await server.participant('limited.example')
  const reasonFor = async (names: string[]) => {
    await grant(server.database, 'limited.example', 'civil', { ask: names, identifier_types: ['BRN'] })
    server.clock.pass(SETTINGS_AGE)
    return (await ask(expression({ surname: 'Okoro' }), limited)).status_reason_message
  }
  const needs =
    'search_criteria.query: surname compares without case and accents, which its database cannot do, and needs a further condition that must hold'
  expect(await reasonFor(['surname', 'birth_date'])).toBe(`${needs}, on birth_date`)
  expect(await reasonFor(['surname'])).toBe(needs)
  expect(await reason({ birth_place: 'Moshi', birth_date: '1985-06-12' })).toBe(
    'search_criteria.query: birth_place can be seen here and not asked about: its registry does not say how it compares',
  )
})

test('an import is refused: its records are written where they are', async () => {
  await expect(importFile(server.database.db, registry, 'people.ndjson')).rejects.toThrow(
    'the records of civil are in a database of its own, which is only read; change them there',
  )
})

test('a backfill sends the records as they are now; when each was written is not known', async () => {
  const { db } = server.database
  const code = await codeOf(server, peer, about('A2'), 'civil')
  const backfill = (more: object) => backfillSubscription(acting({ db }), { code, ...more })
  await expect(backfill({ since: '2026-01-01T00:00:00Z' })).rejects.toThrow(
    'since: the records of civil are read live, and their database does not say when each was written; use a mirror, or leave it out',
  )
  expect(await backfill({})).toEqual({ code, queued: 1 })
})

test('a search of several pages that was begun before the records were read in another way is made again', async () => {
  const { pool } = server.database.db
  const search_criteria = { ...expression({ birth_date: '1985-06-12' }), pagination: { page_size: 1, page_number: 1 } }
  const id = await accepted(server, peer, searchFor(peer, [{ search_criteria }]))
  // This server has not seen the change yet.
  await pool.query(`update registry set own_records = true where namespace = 'civil'`)
  await expect(answerExchange(server, id, { runs: 9 })).rejects.toBeInstanceOf(RecordsUnavailable)
  const { rows } = await pool.query('select page from accepted_exchange where correlation_id = $1', [id])
  expect(rows).toEqual([{ page: 0 }])
  await pool.query(`update registry set own_records = false where namespace = 'civil'`)
  server.clock.pass(SETTINGS_AGE)
  await answerExchange(server, id)
  await deliverAll(server)
  const pages = callbacksTo(peer.receiver).filter(({ envelope }) => envelope.message.correlation_id === id)
  expect(pages.map(({ envelope }) => envelope.message.search_response[0].pagination.page_number)).toEqual([1, 2])
})

test('a grant that demands consent, and one with emergencies, hold as for any other registry', async () => {
  const ward = await server.participant('ward.example')
  const ts = new Date().toISOString()
  await grant(server.database, 'ward.example', 'civil', {
    operations: ['search'],
    query_forms: ['identifier'],
    see: ['identifier'],
    basis: 'consent',
    purposes: ['eligibility'],
    emergency: { see: ['birth_date'], items_per_day: 1 },
  })
  const consent = { ts, purpose: { text: 'Eligibility check', code: 'eligibility' } }
  const authorize = { ts, purpose: { text: 'Unconscious patient', code: 'emergency' } }
  const identifier = [{ identifier_type: 'UIN', identifier_value: 'A1' }]
  expect(await ask(byUin('A1'), ward)).toMatchObject({
    status: 'rjct',
    status_reason_message: 'search_criteria.consent: is required here, with ts and a purpose.code of eligibility',
  })
  expect((await ask({ ...byUin('A1'), consent }, ward)).data.reg_records).toEqual([{ identifier }])
  const seen = await ask({ ...byUin('A1'), authorize }, ward)
  expect(seen.data.reg_records).toEqual([{ identifier, birth_date: '1985-06-12' }])
  expect(await ask({ ...byUin('A1'), authorize }, ward)).toMatchObject({ status: 'rjct' })
  expect(await ask({ ...byUin('A3'), authorize }, ward)).not.toMatchObject({ pagination: { total_count: 1 } })
})

test('a configuration file may have a source that names an identifier type of the same file', async () => {
  const { vault } = server.context
  const other = await testDatabase()
  const { records, ...rest } = officeSource({ env: 'OFFICE' }) as { records: { Person: { columns: object } } }
  const columns = { ...records.Person.columns, 'identifier[OFFICE_NO]': 'person_no' }
  const source = { ...rest, records: { Person: { ...records.Person, columns } } }
  const civil = { kind: 'civil', identifier_types: { OFFICE_NO: { aliases: ['DESK'] } }, source }
  const apply = (entry: object) =>
    applyConfiguration(acting({ db: other.db, env, vault }), { configuration: { version: 1, registries: { civil: entry } } })
  try {
    await apply(civil)
    expect(await requireRegistry(other.db, 'civil')).toMatchObject({ source })
    // And so may a file that changes the registry.
    const more = {
      ...source,
      records: { Person: { ...source.records.Person, columns: { ...columns, 'identifier[DESK_NO]': 'person_no' } } },
    }
    await apply({ ...civil, identifier_types: { ...civil.identifier_types, DESK_NO: {} }, source: more })
    expect(await requireRegistry(other.db, 'civil')).toMatchObject({ source: more })
  } finally {
    await other.close()
  }
})

test('a source keeps the key of its records, whose ids are kept', async () => {
  const { db } = server.database
  const source = officeSource({ env: 'OFFICE' })
  const records = { Person: { ...Object(source).records.Person, key: 'national_no' } }
  const change = changeRegistry(acting({ db, env }), { namespace: 'civil', source: { ...source, records } })
  await expect(change).rejects.toThrow(
    'records.Person.key: must stay person_no, because ids of records are kept; a registry with another key is removed and added again',
  )
})

test('more candidates than the source allows are too many records', async () => {
  const { db } = server.database
  await admin.query(
    `insert into office.person select n, 'N' || n, 'Many', null, 1, '1970-01-01' from generate_series(100, 250) n`,
  )
  await changeRegistry(acting({ db, env }), {
    namespace: 'civil',
    source: { ...officeSource({ env: 'OFFICE' }), candidates: 100 },
  })
  server.clock.pass(SETTINGS_AGE)
  const rejected = {
    status: 'rjct',
    status_reason_code: 'rjct.search.too_many_records_found',
    status_reason_message:
      "search_criteria.query: needs more rows of the registry's database than a search may read; narrow the search",
  }
  expect(await ask(expression({ birth_date: '1970-01-01' }))).toMatchObject(rejected)
  // Nobody matches: a grant whose counts are capped does not say that many do.
  const office = await server.participant('counting.example')
  await grant(server.database, 'counting.example', 'civil', { counts: 'capped' })
  const nobody = expression({ birth_date: '1970-01-01', sex: { $exists: false } })
  expect(await ask(nobody, office)).toMatchObject(rejected)
})

test('while the database is away, its registry alone answers 503, and what is asked asynchronously waits', async () => {
  const { db } = server.database
  const { database } = office.connection
  const server_ = new pg.Client({ ...office.connection, database: 'postgres' })
  await server_.connect()
  await server_.query(`alter database ${database} allow_connections false`)
  await server_.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename <> $2', [
    database,
    office.connection.user,
  ])
  const answer = () => postSearch(server, peer, [{ search_criteria: byUin('A1') }])
  const away = await answer()
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5'])
  expect(away.body.errors).toEqual([
    { code: 'err.service.unavailable', message: 'the database of this registry does not answer at the moment; try again later' },
  ])
  expect((await postSearch(server, peer, [{ search_criteria: byUin('A1') }], 'social')).status).toBe(200)
  const ready = await fetch(`${server.adminUrl}/ready`)
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready', registries_away: ['civil'] }])
  const id = await accepted(server, peer, searchFor(peer, [{ search_criteria: byUin('A1') }]))
  await expect(deliverAll(server)).rejects.toBeInstanceOf(RecordsUnavailable)

  await server_.query(`alter database ${database} allow_connections true`)
  await server_.end()
  await expect.poll(async () => (await answer()).status).toBe(200)
  await db.pool.query("update accepted_exchange set claimed_until = '-infinity' where correlation_id = $1", [id])
  await deliverAll(server)
  const called = callbacksTo(peer.receiver).find(({ envelope }) => envelope.message.correlation_id === id)
  expect(called?.envelope.message.search_response[0]).toMatchObject({ status: 'succ', pagination: { total_count: 1 } })
})
