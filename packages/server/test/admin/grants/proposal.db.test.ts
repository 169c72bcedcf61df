/** A proposal from real traffic: what was used goes on after it is granted, and the rest does not. */

import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { proposeGrant } from '@rollcall/admin/grants/proposal'
import { entriesOfParticipant } from '@rollcall/audit/store/read-entries'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { auditing } from '../../../../settings/test/audit.ts'
import { postSearch, testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const { deps, addEntry } = auditing(server.database)

const person = (uin: string) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { surname: 'Obi', given_name: uin },
  sex: 'F',
  birth_date: '1990-05-05',
  address: { locality: 'Lagos' },
  parent1_identifier: { identifier_type: 'UIN', identifier_value: '9' },
})
await server.registry('civil', [person('1'), person('2')])
await server.registry('social', [])
const peer = await server.participant('spmis.demo')

const item = async (search_criteria: object) =>
  (await postSearch(server, peer, [{ search_criteria }])).body.message.search_response[0]
const byUin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
const bySex = { query_type: 'expression', query: { sex: { $eq: 'F' } } }
const where = { sender_id: 'spmis.demo', namespace: 'civil' }
const propose = (days = 30) => proposeGrant(acting(deps), { ...where, days })

describe('grant propose', () => {
  it('has nothing to propose where nothing was used', async () => {
    await expect(propose()).rejects.toThrow(
      'spmis.demo has used nothing in civil in 30 days of the audit log: rollcall grant revoke ends the grant',
    )
  })

  it('proposes what was used of a grant of everything, and grant set takes it', async () => {
    await grant(server.database, 'spmis.demo', 'civil', { see: ['identifier', 'surname', 'birth_date'] })
    server.clock.pass(1_000)
    const before = [await item(byUin('1')), await item(bySex)]
    expect(before).toMatchObject([{ status: 'succ' }, { status: 'succ' }])
    await grant(server.database, 'spmis.demo', 'civil', {})
    const { terms, days, entries, left_out, unchanged } = await propose()
    expect({ days, entries }).toEqual({ days: 1, entries: 2 })
    expect(terms).toEqual({
      operations: ['search'],
      record_types: ['Person'],
      query_forms: ['identifier', 'expression'],
      ask: ['sex'],
      see: expect.arrayContaining(['identifier', 'surname', 'birth_date']),
      basis: 'law',
      items_per_day: 10,
      records_per_day: 10,
    })
    expect(terms.see).toHaveLength(3)
    expect(left_out).toMatchObject({
      operations: expect.arrayContaining(['subscribe', 'txn-status']),
      query_forms: ['predicate', 'graphql'],
      see: expect.arrayContaining(['sex', 'given_name']),
      event_types: expect.arrayContaining(['Death']),
      members: ['programmes'],
    })
    expect(unchanged).toEqual(['basis'])

    await setGrant(acting(deps), { ...where, terms })
    server.clock.pass(1_000)
    const after = [await item(byUin('1')), await item(bySex)]
    expect(after.map(({ data }) => data.reg_records)).toEqual(before.map(({ data }) => data.reg_records))
    expect(await item({ ...bySex, query: { birth_date: { $eq: '1990-05-05' } } })).toMatchObject({ status: 'rjct' })
  })

  it('narrows a grant and never widens it', async () => {
    await grant(server.database, 'spmis.demo', 'civil', {
      operations: ['search', 'txn-status'],
      query_forms: ['identifier'],
      see: ['sex', 'parents', 'age', 'birth_date'],
      ask: ['sex'],
      items_per_day: 4,
      identifier_types: ['UIN'],
      emergency: { see: ['name'], items_per_day: 1 },
      rows: { 'spdci.org:Person': { sex: { $eq: 'F' } } },
      responsible: 'Registrar General',
    })
    const { terms, left_out } = await propose()
    expect(terms).toEqual({
      operations: ['search'],
      record_types: ['Person'],
      see: ['birth_date'],
      ask: ['sex'],
      items_per_day: 4,
      records_per_day: 10,
      identifier_types: ['UIN'],
      basis: 'law',
      rows: { 'spdci.org:Person': { sex: { $eq: 'F' } } },
      responsible: 'Registrar General',
    })
    expect(left_out).toMatchObject({ operations: ['txn-status'], members: ['emergency', 'programmes'] })
  })

  it('counts the largest day, with a margin, and not what was refused or an emergency', async () => {
    await grant(server.database, 'spmis.demo', 'civil', {})
    const spmis = { participant: 'spmis.demo', asked: { record_types: [], forms: [], attributes: [] } }
    await addEntry({ ...spmis, outcomes: { succ: 200 }, records: 300, shown: {} })
    await addEntry({ ...spmis, operation: 'txn-status', outcomes: { 'rjct.x': 1 }, shown: { Person: ['sex'] } })
    await addEntry({ ...spmis, operation: 'txn-status', emergency: true, shown: { Person: ['sex'] } })
    await addEntry({ ...spmis, registry: 'social', operation: 'enrolled' })
    await addEntry({ ...spmis, kind: 'notification', operation: 'notify', shown: { Person: ['death_date'] } })
    const { terms } = await propose()
    expect(terms.operations).toEqual(['search'])
    expect(terms.items_per_day).toBeGreaterThanOrEqual(300)
    expect(terms.records_per_day).toBeGreaterThanOrEqual(450)
    expect(terms.see).toContain('death_date')
    expect(terms.see).not.toContain('sex')
  })

  it('shows related persons again where they were shown', async () => {
    const spmis = { participant: 'spmis.demo', asked: { record_types: [], forms: [], attributes: [] } }
    await addEntry({ ...spmis, shown: { Person: ['parent1_identifier.identifier_value', 'parent1_identifier.identifier_type'] } })
    expect((await propose()).terms.see).toContain('parents')
  })

  it('reads the audit log in periods: one statement of all days would never end in a large registry', async () => {
    const { pool } = server.database.db
    const sent: { readonly text: string; readonly values: readonly unknown[] }[] = []
    const query = (text: string, values: readonly unknown[]) => {
      sent.push({ text, values })
      return pool.query(text, [...values])
    }
    const other = { chain: '3b241101-e2bb-4255-8caf-4136c566a962', at: '2020-01-01' }
    await pool.query(
      `insert into account (chain, sequence, at, entry, commitments, hash)
      select $1, sequence, $2::timestamptz + sequence * interval '1 ms', '{"participant":"other.example"}', '', ''
      from generate_series(1, 25000) as sequence`,
      [other.chain, other.at],
    )
    await addEntry({ participant: 'spmis.demo' })
    const found = []
    const asked = { participant: 'spmis.demo', registry: 'civil', from: new Date(other.at) }
    for await (const { entry } of entriesOfParticipant({ pool: { query } as unknown as typeof pool }, asked)) found.push(entry)
    expect(found.length).toBeGreaterThan(0)
    const read = sent.filter(({ text }) => text.includes('content'))
    expect(read.length).toBeGreaterThanOrEqual(3)
    for (const { text, values } of read) {
      expect(text).toContain('at >= $1 and at < $2')
      const [from, to] = values as [Date, Date]
      // In 2020, each millisecond has an entry.
      if (to.getUTCFullYear() === 2020) expect(to.getTime() - from.getTime()).toBeLessThanOrEqual(10_000)
    }
  })

  it('is of a grant in force', async () => {
    await server.database.db.pool.query(
      `update participant_grant set revoked_at = now()
       where participant = (select id from participant where sender_id = 'spmis.demo')`,
    )
    await expect(propose()).rejects.toThrow('spmis.demo has no grant in force in civil')
  })
})
