import { AdminRefusal } from '@rollcall/admin/admin-function'
import { auditPerson } from '@rollcall/admin/audit/person-accesses'
import { publishEvent } from '@rollcall/admin/events/publish'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords } from '@rollcall/admin/records/merge'
import {
  addIdentifierType,
  changeIdentifierType,
  listIdentifierTypes,
  removeIdentifierType,
} from '@rollcall/admin/registries/identifier-types'
import { addRegistry, changeRegistry } from '@rollcall/admin/registries/registries'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { JsonObject } from '@rollcall/protocol'
import { applyIndexes } from '@rollcall/records/registries/index-apply'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { grant, grantEverything } from '../../../../participants/test/grants.ts'
import { auditing, personAs } from '../../../../settings/test/audit.ts'
import { postSearch, type TestParticipant, testServer, writeDocuments } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const { db } = server.database
const namespace = 'civil'
const person = (identifiers: Readonly<Record<string, string>>, more: JsonObject = {}): JsonObject => ({
  '@type': 'CRVS_Person',
  identifier: Object.entries(identifiers).map(([identifier_type, identifier_value]) => ({ identifier_type, identifier_value })),
  name: { surname: 'Okoro' },
  ...more,
})

let peer: TestParticipant
beforeAll(async () => {
  peer = await server.participant('spmis.demo')
  await addRegistry(acting({ db }), { kind: 'civil', primary_identifiers: { Person: 'nin' } })
  await grantEverything(server.database)
  const registry = await requireRegistry(db, namespace)
  await writeDocuments(server.database, registry, [
    person({ NID: '1000', CEDULA: 'c-1' }),
    person(
      { NID: '2000', UIN: 'U-2', CEDULA: 'c-2' },
      { parent1_identifier: { identifier_type: 'CEDULA', identifier_value: 'c-1' } },
    ),
  ])
})

const find = async (search_criteria: object) =>
  (await postSearch(server, peer, [{ search_criteria }])).body.message.search_response[0]
const byType = (type: string, value: string) => find({ query_type: 'idtype-value', query: { type, value } })
const numbers = (item: { data: { reg_records: { identifier: { identifier_value: string }[] }[] } }) =>
  item.data.reg_records.map(({ identifier }) => identifier[0]?.identifier_value)
const EVERYBODY = { query_type: 'expression', query: { NID: { $exists: true } } }
const refusal = (message: string) => new AdminRefusal(message)

describe('a registry whose records are known by another identifier', () => {
  it('finds them in every form of a query, and keeps the others', async () => {
    expect(numbers(await byType('NationalID', '1000'))).toEqual(['1000'])
    expect(numbers(await byType('UIN', 'U-2'))).toEqual(['2000'])
    expect(numbers(await find({ query_type: 'expression', query: { NID: { $eq: '1000' } } }))).toEqual(['1000'])
    const expression1 = { attribute_name: 'nid', operator: 'eq', attribute_value: '2000' }
    expect(numbers(await find({ query_type: 'predicate', query: [{ seq_num: 1, expression1 }] }))).toEqual(['2000'])
    const graphql = { type: 'graphql', value: '{ person(NID: "2000") { NID UIN } }' }
    expect((await find({ query_type: 'graphql', query: graphql })).data.reg_records).toEqual([{ NID: '2000', UIN: 'U-2' }])
  })

  it("is sorted by the kind's own too, and a record without one is last", async () => {
    const sorted = (sort_order: string) => find({ ...EVERYBODY, sort: [{ attribute_name: 'UIN', sort_order }] })
    expect(numbers(await sorted('asc'))).toEqual(['2000', '1000'])
    expect(numbers(await sorted('desc'))).toEqual(['2000', '1000'])
  })

  it('says so in its description', async () => {
    const page = await (await fetch(`${server.url}/civil/v1.0.0/openapi.json`)).text()
    expect(page).toContain('| Person | Person | CRVSPerson, CRVS_Person, SRPerson | NID |')
    expect(page).toContain('"type":"NID","value":"NID-0001"')
  })

  it('takes events and merges by it', async () => {
    const limits = DEFAULT_LIMITS
    const publish = (record: JsonObject) => publishEvent(acting({ db, limits }), { namespace, reg_event_type: 'UPDATE', record })
    await publish(person({ NID: '3000' }, { sex: 'F' }))
    await publish(person({ NID: '3001' }))
    await expect(publish(person({ UIN: 'U-9' }))).rejects.toThrow(refusal('record: no usable NID, by which a Person is known'))
    const nid = (identifier_value: string) => ({ identifier_type: 'NID', identifier_value })
    await mergeRecords(acting({ db, limits }), { namespace, survivor: nid('3000'), retired: nid('3001') })
    expect(numbers(await byType('NID', '3001'))).toEqual(['3000'])
  })

  it('names it only before the first record, and only where it is one', async () => {
    await expect(changeRegistry(acting({ db }), { namespace, primary_identifiers: { Person: 'UIN' } })).rejects.toThrow(
      refusal(
        'civil has records, which are known by their primary identifier: it can be named only before the first import; add a registry at another namespace',
      ),
    )
    const add = (kind: 'ess' | 'civil', primary_identifiers: Record<string, string>) =>
      addRegistry(acting({ db }), { kind, namespace: 'other', primary_identifiers })
    const known =
      'to use another type, add the registry without it, then rollcall identifier-type add and rollcall registry set --primary'
    await expect(add('civil', { Person: 'CEDULA' })).rejects.toThrow(
      refusal(`primary_identifiers.Person: must be one of UIN, BRN, MRN, DRN, NID, OPENCRVS_RECORD_ID; ${known}`),
    )
    await expect(add('ess', { Group: 'NID' })).rejects.toThrow(
      refusal('primary_identifiers: names Group; the record types are Member'),
    )
    // Only other kinds have it.
    const { primary_identifiers } = await add('ess', { Member: 'NID' })
    expect(primary_identifiers).toEqual({ Member: 'NID' })
    expect(await listIdentifierTypes({ db }, { namespace: 'other' })).toMatchObject([
      { name: 'UIN', primary: [], from: 'kind' },
      { name: 'NID', primary: ['Member'], from: 'registry', aliases: ['NIN', 'NationalID', 'NATIONAL_ID'] },
    ])
    await changeRegistry(acting({ db }), { namespace: 'other', primary_identifiers: { Member: 'UIN' } })
    await removeIdentifierType(acting({ db }), { namespace: 'other', name: 'NID' })
    expect(await listIdentifierTypes({ db }, { namespace: 'other' })).toHaveLength(1)
  })
})

describe('an identifier type that is added to a registry with records', () => {
  const audit = auditing(server.database)

  it('is refused as unknown before, and hides protected persons before and after', async () => {
    expect(await byType('CEDULA', 'C-1')).toMatchObject({
      status_reason_message:
        'search_criteria.query.type: must be one of UIN, BRN, MRN, DRN, NID, OPENCRVS_RECORD_ID, MOBILE, EMAIL',
    })
    await audit.addEntry({ operation: 'saw early' }, [personAs('seen', '*:C-2')])
    const parents = async () => (await byType('NID', '2000')).data.reg_records[0].parent1_identifier
    expect(await parents()).toBeDefined()
    await protectPerson(acting({ db }), {
      namespace,
      identifier_type: 'NID',
      identifier_value: '1000',
      category: 'shelter',
      reason: 'Order 7',
    })
    server.clock.pass(1_000)
    expect(await parents()).toBeUndefined()
    expect(await addIdentifierType(acting({ db }), { namespace, name: 'CEDULA', aliases: ['DocNo'] })).toEqual({
      name: 'CEDULA',
      compared_as: 'code',
      aliases: ['DocNo'],
      patterns: [],
      primary: [],
      sortable: false,
      from: 'registry',
    })
    server.clock.pass(1_000)
    expect(await parents()).toBeUndefined()
  })

  it('cannot be searched until the identifiers are read again, other types can', async () => {
    expect(await byType('DocNo', 'c-2')).toMatchObject({
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: 'search_criteria.query: CEDULA is being backfilled and cannot be searched yet',
    })
    expect(numbers(await byType('NID', '2000'))).toEqual(['2000'])
    await applyIndexes(db, namespace)
    server.clock.pass(1_000)
    expect(numbers(await byType('docno', 'c-2'))).toEqual(['2000'])
    expect(numbers(await byType('CEDULA', 'c-1'))).toEqual([])
  })

  it('finds audit entries from before and after', async () => {
    await audit.addEntry({ operation: 'saw late' }, [personAs('seen', 'CEDULA:C-2')])
    const { seen } = await auditPerson(acting(audit.deps), { type: 'docno', value: 'c-2' })
    expect(seen.map(({ operation }) => operation).toSorted()).toEqual(expect.arrayContaining(['saw early', 'saw late']))
  })

  it('can be granted or left out, and is not removed while a grant names it', async () => {
    const granted = async (identifier_types: string[]) => {
      await grant(server.database, peer.sender_id, namespace, { identifier_types })
      server.clock.pass(1_000)
    }
    await granted(['NID'])
    expect(await byType('CEDULA', 'C-2')).toMatchObject({
      status_reason_message: 'search_criteria.query.type: must be one of NID',
    })
    await granted(['CEDULA'])
    expect(numbers(await byType('CEDULA', 'C-2'))).toEqual(['2000'])
    await expect(removeIdentifierType(acting({ db }), { namespace, name: 'CEDULA' })).rejects.toThrow(
      'name: the grant of spmis.demo in civil names CEDULA; change the grant first',
    )
    await grant(server.database, peer.sender_id, namespace, {})
    await expect(removeIdentifierType(acting({ db }), { namespace, name: 'CEDULA' })).rejects.toThrow(
      refusal('records of civil have identifiers of the type CEDULA; it can be removed only while none has'),
    )
  })
})

describe('an identifier type that an operator calls sortable', () => {
  const sorted = (sort_order: string) => find({ ...EVERYBODY, sort: [{ attribute_name: 'DocNo', sort_order }] })
  const asked = async (sortable: boolean) => {
    await changeIdentifierType(acting({ db }), { namespace, name: 'CEDULA', sortable })
    server.clock.pass(1_000)
  }
  const unknown = {
    status_reason_code: 'rjct.sort.invalid',
    status_reason_message: expect.stringMatching(/^search_criteria\.sort\[0\]\.attribute_name: must be one of /),
  }

  it('can be sorted by when its column is filled', async () => {
    server.clock.pass(1_000)
    expect(await sorted('asc')).toMatchObject(unknown)
    await asked(true)
    expect(await sorted('asc')).toMatchObject({
      status_reason_code: 'rjct.sort.invalid',
      status_reason_message: 'search_criteria.sort: CEDULA is being backfilled and cannot be sorted by yet',
    })
    await applyIndexes(db, namespace)
    const limits = DEFAULT_LIMITS
    await publishEvent(acting({ db, limits }), {
      namespace,
      reg_event_type: 'UPDATE',
      record: person({ NID: '5000', CEDULA: 'A-5' }),
    })
    server.clock.pass(1_000)
    // A protected person has no place in the order.
    expect(numbers(await sorted('asc'))).toEqual(['5000', '2000', '3000'])
    expect(numbers(await sorted('desc'))).toEqual(['2000', '5000', '3000'])
  })

  it('keeps no column when it is so no more', async () => {
    await asked(false)
    expect(await sorted('asc')).toMatchObject(unknown)
    const { id } = await requireRegistry(db, namespace)
    const { rows } = await db.pool.query(
      "select 1 from information_schema.columns where table_name = $1 and column_name = '_sort_cedula'",
      [`r${id}_person`],
    )
    expect(rows).toEqual([])
    // The column begins empty again.
    await asked(true)
    expect(await sorted('asc')).toMatchObject({ status_reason_code: 'rjct.sort.invalid' })
    await applyIndexes(db, namespace)
    server.clock.pass(1_000)
    expect(numbers(await sorted('asc'))).toEqual(['5000', '2000', '3000'])
    await asked(false)
  })
})

describe('the form of values', () => {
  it('is asked of queries and of records that come; what was stored before stays', async () => {
    const pattern = '[0-9]{6}'
    await changeIdentifierType(acting({ db }), { namespace, name: 'CEDULA', patterns: [pattern] })
    server.clock.pass(1_000)
    expect(await byType('CEDULA', 'C-2')).toMatchObject({
      status_reason_message: `search_criteria.query.value: must be a string of 1 to 256 characters or a whole number, and of the form ${pattern}`,
    })
    expect(numbers(await byType('NID', '2000'))).toEqual(['2000'])
    const limits = DEFAULT_LIMITS
    const publish = (record: JsonObject) => publishEvent(acting({ db, limits }), { namespace, reg_event_type: 'UPDATE', record })
    await expect(publish(person({ NID: '4000', CEDULA: '12345' }))).rejects.toThrow(
      refusal(`record: CEDULA: must be of the form ${pattern}`),
    )
    await publish(person({ NID: '2000' }, { sex: 'F' }))
    await publish(person({ NID: '4000', CEDULA: '123 456' }))
    server.clock.pass(1_000)
    expect(numbers(await byType('CEDULA', '123456'))).toEqual(['4000'])
    await changeIdentifierType(acting({ db }), { namespace, name: 'CEDULA', patterns: [] })
    expect(await listIdentifierTypes({ db }, { namespace })).toContainEqual(
      expect.objectContaining({ name: 'CEDULA', aliases: ['DocNo'], patterns: [] }),
    )
  })
})

describe('an identifier type that gets or loses a name', () => {
  const act = acting({ db })
  let last = 7_000
  beforeAll(() => applyIndexes(db, namespace))

  it.each<[string, string, () => Promise<unknown>]>([
    [
      'a name more, of a type that was added',
      'BADGE',
      () => changeIdentifierType(act, { namespace, name: 'CEDULA', aliases: ['DocNo', 'BADGE'] }),
    ],
    ['a name less', 'BADGE', () => changeIdentifierType(act, { namespace, name: 'CEDULA', aliases: ['DocNo'] })],
    [
      'a name more, of a type of the kind, with values that it compares in another way',
      'E_POST',
      () => addIdentifierType(act, { namespace, name: 'EMAIL', aliases: ['E_POST'] }),
    ],
    ['what was added to a type of the kind, removed', 'E_POST', () => removeIdentifierType(act, { namespace, name: 'EMAIL' })],
  ])('hides protected persons before and after: %s', async (_, identifier_type, change) => {
    const [own, other] = [String(last + 1), String(last + 2)]
    last += 2
    const identifier_value = `p-${own}@x.org`
    await writeDocuments(server.database, await requireRegistry(db, namespace), [
      person({ NID: own, [identifier_type]: identifier_value }),
      person({ NID: other }, { parent1_identifier: { identifier_type, identifier_value } }),
    ])
    const parent = async () => (await byType('NID', other)).data.reg_records[0].parent1_identifier
    expect(await parent()).toEqual({ identifier_type, identifier_value })
    const named = { identifier_type: 'NID', identifier_value: own }
    await protectPerson(act, { namespace, ...named, category: 'shelter', reason: 'Order 8' })
    server.clock.pass(1_000)
    expect(await parent()).toBeUndefined()
    await change()
    server.clock.pass(1_000)
    expect(await parent()).toBeUndefined()
    await applyIndexes(db, namespace)
    server.clock.pass(1_000)
    expect(await parent()).toBeUndefined()
  })

  it('hides a record that belongs to a protected person by the new name alone, and does not count it', async () => {
    const identifier_value = 'C-77'
    await writeDocuments(server.database, await requireRegistry(db, namespace), [
      person({ NID: '7999', LICENCE: identifier_value }),
    ])
    expect(numbers(await byType('NID', '7999'))).toEqual(['7999'])
    await protectPerson(act, { namespace, identifier_type: 'CEDULA', identifier_value, category: 'shelter', reason: 'Order 9' })
    await changeIdentifierType(act, { namespace, name: 'CEDULA', aliases: ['DocNo', 'LICENCE'] })
    await applyIndexes(db, namespace)
    server.clock.pass(1_000)
    for (const [type, value] of [
      ['CEDULA', identifier_value],
      ['NID', '7999'],
    ] as const) {
      expect(await byType(type, value)).toMatchObject({
        status: 'succ',
        pagination: { total_count: 0 },
        data: { reg_records: [] },
      })
    }
  })
})

describe('an identifier type is refused', () => {
  it.each([
    [{ name: 'cedula_2' }, /^name: must be 1 to 41 capital letters/],
    [{ name: 'CEDULA', aliases: ['C'] }, /^CEDULA was added to civil already; rollcall identifier-type set changes it$/],
    [{ name: 'X', patterns: ['(a+)+'] }, /^patterns\[0\]: must be digits, capital letters/],
  ])('%j', async (given, message) => {
    await expect(addIdentifierType(acting({ db }), { namespace, ...given })).rejects.toThrow(message)
  })

  it('where another registry compares it in another way, or none was added', async () => {
    await addIdentifierType(acting({ db }), { namespace, name: 'CARD', compared_as: 'code' })
    const card = { namespace: 'other', name: 'CARD', compared_as: 'phone' } as const
    await expect(addIdentifierType(acting({ db }), card)).rejects.toThrow(
      refusal('compared_as: values of CARD are compared as code in another registry; a person must be the same in both'),
    )
    await expect(changeIdentifierType(acting({ db }), { namespace, name: 'NID', patterns: ['1'] })).rejects.toThrow(
      refusal('no identifier type NID was added to civil'),
    )
    await expect(removeIdentifierType(acting({ db }), { namespace, name: 'UIN' })).rejects.toThrow(
      refusal('no identifier type UIN was added to civil'),
    )
  })
})
