/**
 * What every source of records must do, whichever it is: the same people in our own tables, in memory and in the database of another
 * system are answered about in the same way, or are refused with the reason. A later source is one more row.
 */

import { backfillSubscription } from '@rollcall/admin/events/subscription-mailbox'
import { erasePerson } from '@rollcall/admin/persons/erase'
import { SearchTimeout } from '@rollcall/core/model/record-source'
import type { Registry } from '@rollcall/core/model/registry'
import { openDatabase } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { protectPerson } from '@rollcall/records/records/protect-person'
import { OWN_TABLES_SINK } from '@rollcall/records/records/record-sink'
import { setRegistryRecords } from '@rollcall/records/records/registry-records'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { beneficiary, enrolment } from '../../../../core/test/beneficiaries.ts'
import { planNextEnvelopes } from '../../../../delivery/src/notify/plan-envelopes.ts'
import { hasMariadb } from '../../../../source/test/mariadb.ts'
import { accepted, asyncPeer, callbacksTo, deliverAll, searchFor } from '../../asynchronous.ts'
import { liveMariadb, liveOffice } from '../../live-office.ts'
import { memoryRecords } from '../../memory-records.ts'
import { askingOf } from '../../person-questions.ts'
import { bearer, post, postSearch, testServer, writeDocuments } from '../../server.ts'
import { codeOf } from '../../subscribing.ts'
import { askStatus } from '../../txn-status.ts'

const server = await testServer()
afterAll(() => server.close())
const { database } = server
const owner = openDatabase(database.owner)
afterAll(() => owner.close())

interface Source {
  readonly name: string
  readonly isOwn: boolean
  /** @returns what removes a record by its primary identifier */
  readonly hold: (registry: Registry, documents: readonly object[]) => Promise<(primary: string) => Promise<void>>
  /** The queries that it cannot answer, with the rule of the refusal. */
  readonly refusals?: Readonly<Record<string, string>>
}

let isSlow = false
const SOURCES: readonly Source[] = [
  {
    name: 'own',
    isOwn: true,
    async hold(registry: Registry, documents: readonly object[]) {
      await writeDocuments(database, registry, documents)
      const [recordType] = registry.kind.record_types
      return async (primary: string) => {
        await withTransaction(database.db.pool, (client) =>
          OWN_TABLES_SINK.deleteRecords(client, registry, recordType, [primary.toUpperCase()]),
        )
      }
    },
  },
  {
    name: 'memory',
    isOwn: false,
    async hold(registry: Registry, documents: readonly object[]) {
      const records = memoryRecords(database.db)
      for (const one of documents) records.put(registry, one)
      const reader = records.source.reader('sync')
      const find = (...asked: Parameters<typeof reader.find>) =>
        isSlow ? Promise.reject(new SearchTimeout(new Error('slow'))) : reader.find(...asked)
      const source = { ...records.source, reader: () => ({ ...reader, find }) }
      setRegistryRecords(database.db, registry, { ...records, source })
      return async (primary: string) => records.remove(primary.toUpperCase())
    },
  },
  ...[{ name: 'live', office: liveOffice }, ...(hasMariadb() ? [{ name: 'live-mariadb', office: liveMariadb }] : [])].map(
    ({ name, office }) => ({
      name,
      isOwn: false,
      async hold(registry: Registry, documents: readonly object[]) {
        const { close, remove } = await office(database, registry, documents)
        server.closing({ close })
        return remove
      },
      refusals: {
        'a predicate':
          'surname compares without case and accents, which its database cannot do, and needs a further condition that must hold, on UIN, sex, birth_date',
      },
    }),
  ),
]

describe.each(SOURCES)('records in a source: $name', async ({ name, isOwn, hold, refusals = {} }) => {
  const uin = (n: number) => `${name}-${n}`
  const person = (n: number) => ({
    '@type': 'CRVS_Person',
    identifier: [{ identifier_type: 'UIN', identifier_value: uin(n) }],
    name: { surname: n % 2 === 0 ? 'Obi' : 'Okoro', given_name: `p${n}` },
    sex: n % 3 === 0 ? 'female' : 'male',
    birth_date: `19${90 - n}-05-05`,
  })
  const people = Array.from({ length: 9 }, (_, n) => person(n))
  const civil = await server.registry('civil', [], name, 'live', isOwn)
  const ibr = await server.registry('ibr', [], `${name}-ibr`, 'live', isOwn)
  /** Without taking back what waits in mailboxes. */
  const protect = (value: string, category: 'shelter' | 'sealed') =>
    withTransaction(database.db.pool, (client) =>
      protectPerson(client, civil, {
        identifier: { type: 'UIN', value: value.toUpperCase() },
        category,
        reason: 'Order 7',
        bearer: null,
      }),
    )
  // Protected before there is a record.
  await protect(uin(8), 'shelter')
  const remove = await hold(civil, people)
  await hold(ibr, [beneficiary(`${name}-1`, enrolment('PRG-7'))])
  const peer = await asyncPeer(server, `${name}.peer.example`)

  const one = async (search_criteria: object) => {
    const { body } = await postSearch(server, peer, [{ search_criteria, reference_id: 'a' }], name)
    return body.message.search_response[0]
  }
  const numbers = (item: { data: { reg_records: { name: { given_name: string } }[] } }) =>
    item.data.reg_records.map((record) => record.name.given_name)
  /** Pages are sent at the same time. */
  const pageOf = ({ envelope }: ReturnType<typeof callbacksTo>[number]): number =>
    envelope.message.search_response[0].pagination.page_number
  const expression = (query: object) => ({ query_type: 'expression', query })

  it.each([
    ['an identifier', { query_type: 'idtype-value', query: { type: 'UIN', value: uin(3) } }, ['p3']],
    ['an expression', expression({ sex: 'female' }), ['p0', 'p3', 'p6']],
    [
      'a predicate',
      {
        query_type: 'predicate',
        query: [{ expression1: { attribute_name: 'surname', operator: 'eq', attribute_value: 'okoro' } }],
      },
      ['p1', 'p3', 'p5', 'p7'],
    ],
    ['nobody', { query_type: 'idtype-value', query: { type: 'UIN', value: uin(99) } }, []],
    ['a protected person', { query_type: 'idtype-value', query: { type: 'UIN', value: uin(8) } }, []],
  ])('are found by %s', async (form, criteria, found) => {
    const item = await one(criteria)
    if (refusals[form] !== undefined) {
      const status_reason_message = `search_criteria.query: ${refusals[form]}`
      expect(item).toMatchObject({ status_reason_code: 'rjct.search_criteria.invalid', status_reason_message })
      return
    }
    expect(item, JSON.stringify(item)).toMatchObject({ status: 'succ', pagination: { total_count: found.length } })
    expect(numbers(item)).toEqual(found)
  })

  it('are sorted, and selected by GraphQL', async () => {
    const sorted = await one({
      ...expression({ sex: 'male' }),
      sort: [{ attribute_name: 'birth_date', sort_order: 'asc' }],
      pagination: { page_size: 2, page_number: 2 },
    })
    expect(sorted, JSON.stringify(sorted)).toMatchObject({ status: 'succ', pagination: { total_count: 5 } })
    expect(numbers(sorted)).toEqual(['p4', 'p2'])
    const value = `{ person(UIN: "${uin(2)}") { sex } }`
    const selected = await one({ query_type: 'graphql', query: { type: 'graphql', value } })
    expect(selected.data.reg_records).toEqual([{ sex: 'male' }])
  })

  it('are called back in pages, and a status question knows of them', async () => {
    const search = { search_criteria: { ...expression({ sex: 'male' }), pagination: { page_size: 2 } } }
    const missing = { search_criteria: expression({ surname: 'nobody' }) }
    const id = await accepted(server, peer, searchFor(peer, [search, missing]), 'search', name)
    await deliverAll(server)
    const pages = callbacksTo(peer.receiver)
      .filter(({ envelope }) => envelope.message.correlation_id === id)
      .toSorted((one, other) => pageOf(one) - pageOf(other))
    expect(pages.map(({ envelope }) => numbers(envelope.message.search_response[0]))).toEqual([
      ['p1', 'p2'],
      ['p4', 'p5'],
      ['p7'],
    ])
    const status = await askStatus(server, peer, 'correlation_id', id, { namespace: name })
    expect(status.header.status).toBe('succ')
    expect(status.message.txnstatus_response.txn_status.search_response).toHaveLength(2)
  })

  it('answer whether somebody is enrolled', async () => {
    const enrolled = async (value: string) => {
      const criteria = { query_type: 'expression', query: { person_identifier: { eq: value } } }
      const url = `${server.url}/${name}-ibr/v1.0.0/registry/sync/enrolled`
      const { body } = await post(url, askingOf(peer, 'search', { enrolled_criteria: criteria }), bearer(peer))
      return body.message.enrolled_response[0].enrolled_status
    }
    expect(await enrolled(`${name}-1`)).toBe('yes')
  })

  it('are queued for a subscription page by page, and withdrawn when a person is erased', async () => {
    const filter = [{ expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'female' } }]
    const criteria = { reg_event_type: 'LiveBirth', notify_record_type: 'Person', filter_type: 'predicate', filter }
    const code = await codeOf(server, peer, criteria, name)
    const deps = acting({ db: database.db })
    expect(await backfillSubscription(deps, { code })).toEqual({ code, queued: 3 })
    const { rows } = await database.db.pool.query(
      `select document from event where registry = $1 and purpose = 'backfill' order by id`,
      [civil.id],
    )
    expect(rows.map(({ document }) => JSON.parse(document).name.given_name)).toEqual(['p0', 'p3', 'p6'])
    const { auditLog, vault, limits } = { ...server.context, limits: server.context.limits }
    const erasing = acting({ db: database.db, owner, auditLog, vault, limits })
    const erased = await erasePerson(erasing, { type: 'UIN', value: uin(3), reason: 'order 12' })
    expect(erased).toMatchObject({ notifications: 1, records: [{ namespace: name, record_type: 'Person' }] })
    expect(erased.accounts.entries).toBeGreaterThan(0)
  })

  it('wait in a mailbox until their person is protected: nothing is sent then, whether the record is still there or not', async () => {
    const filter = [{ expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'male' } }]
    const criteria = { reg_event_type: 'LiveBirth', notify_record_type: 'Person', filter_type: 'predicate', filter }
    const code = await codeOf(server, peer, criteria, name)
    expect(await backfillSubscription(acting({ db: database.db }), { code })).toEqual({ code, queued: 6 })
    const { rows } = await database.db.pool.query(
      'select mailbox, participant from subscription where code = $1 and participant = $2',
      [code, peer.id],
    )
    const settings = { notify_items: 10, notify_bytes: 1_000_000 }
    const grant = await server.context.grants.of({ id: peer.id, status: 'active' }, civil)
    const planned = async () => {
      const envelopes = await planNextEnvelopes(database.db, rows[0].mailbox, { registry: civil, grant, settings })
      const events = envelopes.flatMap(({ items }) => items.map(({ event }) => event))
      const read = await database.db.pool.query(
        `select document::json -> 'name' ->> 'given_name' as given_name from event where id = any($1) order by id`,
        [events],
      )
      return read.rows.map(({ given_name }) => given_name)
    }
    // Those of the test before wait in the same mailbox. The person who was protected at the beginning is not among them.
    expect(await planned()).toEqual(['p0', 'p6', 'p1', 'p2', 'p4', 'p5', 'p7'])
    await remove(uin(4))
    await protect(uin(2), 'sealed')
    await protect(uin(4), 'sealed')
    expect(await planned()).toEqual(['p0', 'p6', 'p1', 'p5', 'p7'])
  })
})

it('a search that takes a source too long is rejected', async () => {
  isSlow = true
  const peer = await server.participant('slow.example')
  const search_criteria = { query_type: 'expression', query: { sex: 'female' } }
  const { body } = await postSearch(server, peer, [{ search_criteria, reference_id: 'a' }], 'memory')
  expect(body.message.search_response[0]).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.search_criteria.invalid',
    status_reason_message: expect.stringMatching(/^search_criteria\.query: took longer than 10 seconds; /),
  })
})
