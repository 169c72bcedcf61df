import { publishOutbox, retryOutbox } from '@rollcall/admin/events/outbox'
import { publishEvent } from '@rollcall/admin/events/publish'
import { erasePerson } from '@rollcall/admin/persons/erase'
import { addHold, removeHold } from '@rollcall/admin/persons/holds'
import { mergeRecords } from '@rollcall/admin/records/merge'
import { showRecord } from '@rollcall/admin/records/record'
import { deleteRecords } from '@rollcall/admin/records/records'
import { addIdentifierType } from '@rollcall/admin/registries/identifier-types'
import { entryHash, firstPreviousHash } from '@rollcall/audit/chain'
import { loadAuditKeys } from '@rollcall/audit/keys'
import { pseudonymOf } from '@rollcall/audit/persons'
import { findEntryHash, readHashedEntries } from '@rollcall/audit/store/evidence'
import type { Journal } from '@rollcall/core/model/journal'
import type { Registry } from '@rollcall/core/model/registry'
import { addHold as insertHold } from '@rollcall/database/holds'
import { withTransaction } from '@rollcall/database/transaction'
import { findOutboxRowsAbout } from '@rollcall/delivery/store/events/outbox'
import { addRegistry, requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { type RetentionTest, retentionTest } from '../../../../admin/test/retention.ts'
import { personRowsSql } from '../../../../audit/src/store/packed-persons.ts'
import { subscribeLive } from '../../../../delivery/test/subscriptions.ts'
import { auditEntry, vaultOf } from '../../../../settings/test/audit-log.ts'
import { dropPerson, places, tamper } from '../../../../settings/test/tampering.ts'
import { writeDocuments } from '../../server.ts'

let world: RetentionTest
let civil: Registry
beforeAll(async () => {
  world = await retentionTest()
  const { db } = world.database
  civil = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  const social = await addRegistry(db, { namespace: 'social', kind: 'social', sender_id: 'social.example' })
  const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })
  await writeDocuments(world.database, civil, [
    { '@type': 'Person', identifier: [id('UIN', '1'), id('BRN', 'B-1'), id('MRN', 'M-1')], name: { surname: 'Okoro' } },
    { '@type': 'Person', identifier: [id('UIN', '2'), id('MRN', 'M-1')], name: { surname: 'Abara' } },
  ])
  await writeDocuments(world.database, social, [{ '@type': 'Member', member_identifier: [id('UIN', '1')] }])
})
afterAll(() => world.close())

const person = (type: string, value: string, role: 'asked' | 'seen' = 'asked') => ({ role, identifiers: [{ type, value }] })
const reason = 'order 12/2026'

/** Whether every hash is right: an erasure changes no entry. */
async function isWhole(): Promise<boolean> {
  const last = await world.rows('select chain::text, max(sequence) as sequence from account group by chain')
  for (const { chain, sequence } of last as { chain: string; sequence: number }[]) {
    let previous = firstPreviousHash(chain)
    for (const { commitments, ...entry } of await readHashedEntries(world.database.db, { chain, sequence: 1 }, sequence))
      previous = entryHash(previous, { chain, ...entry, commitments: Buffer.from(commitments, 'hex') })
    if (previous.toString('hex') !== (await findEntryHash(world.database.db, { chain, sequence }))) return false
  }
  return true
}

test('the rows of every identifier of the person go, and a signed tombstone lists them', async () => {
  const { auditLog } = world
  await auditLog.write(auditEntry({ operation: 'search' }), [person('UIN', '1'), person('UIN', '2')])
  await auditLog.write(auditEntry({ operation: 'search' }), [person('BRN', 'B-1', 'seen')])
  await auditLog.write(auditEntry({ operation: 'search' }), [person('MRN', 'M-1')])

  const dry = await erasePerson(acting(world.deps()), { type: 'UIN', value: '1', reason, dry_run: true })
  // The number of a mother that two records have is of nobody alone.
  expect(dry).toMatchObject({ dry_run: true, identifiers: 2, accounts: { entries: 2, rows: 2, held: 0 } })
  expect(await world.rows(`select from ${personRowsSql()} as person`)).toHaveLength(4)

  const done = await erasePerson(acting(world.deps()), { type: 'UIN', value: '1', reason })
  expect(done).toMatchObject({
    accounts: { entries: 2, rows: 2, held: 0 },
    records: [
      { namespace: 'civil', record_type: 'Person' },
      { namespace: 'social', record_type: 'Member' },
    ],
  })
  expect(await world.rows(`select from ${personRowsSql()} as person`)).toHaveLength(2)
  const found = await world.rows('select content from account_tombstone')
  expect(found.map(({ content }) => JSON.parse(String(content)))).toMatchObject([
    {
      kind: 'erasure',
      reason,
      erased: {
        [Object.keys(JSON.parse(String(found[0]?.content)).erased)[0] ?? '']: [
          [1, 0],
          [2, 0],
        ],
      },
    },
  ])
  expect(await isWhole()).toBe(true)
  expect(await erasePerson(acting(world.deps()), { type: 'UIN', value: '1', reason })).toMatchObject({
    accounts: { entries: 0, rows: 0 },
  })
})

test('waiting notifications are withdrawn, and what the event has of the record is cleared', async () => {
  const { db } = world.database
  await subscribeLive(db, civil, 'MARRIAGE', { uin: { eq: '2' } })
  await publishEvent(acting(world.deps()), {
    namespace: 'civil',
    reg_event_type: 'MARRIAGE',
    record: { identifier: [{ identifier_type: 'UIN', identifier_value: '2' }], name: { surname: 'Nwosu' } },
  })
  expect(await world.rows(`select from notification where state = 'waiting'`)).toHaveLength(1)
  expect(await erasePerson(acting(world.deps()), { type: 'UIN', value: '2', reason })).toMatchObject({
    notifications: 1,
    underway: 0,
  })
  expect(await world.rows(`select state from notification`)).toEqual([{ state: 'dropped' }])
  expect(JSON.stringify(await world.rows('select event::text from event'))).not.toContain('Nwosu')
})

test('large rows of the outbox are read one at a time, and all are found', async () => {
  for (const pad of [5_000_000, 5_000_000, 9_000_000, 1]) {
    await world.rows(
      `insert into rollcall_outbox.event (namespace, reg_event_type, record) values ('civil', 'Nope', $1)`,
      JSON.stringify({ identifier: [{ identifier_type: 'UIN', identifier_value: 'L-1' }], pad: 'x'.repeat(pad) }),
    )
  }
  const { pool } = world.database.db
  const counts: number[] = []
  const query = async (text: string, values: unknown[]) => {
    const found = await pool.query(text, values)
    counts.push(found.rows.length)
    return found
  }
  const found = await findOutboxRowsAbout({ pool: { query } as never }, [{ type: 'UIN', value: 'L-1' }], [civil])
  expect([found.length, counts]).toEqual([4, [1, 1, 1, 1, 0]])
  await world.rows('delete from rollcall_outbox.event')
})

test('waiting and failed rows of the outbox with an identifier of the person go: no retry brings the person back', async () => {
  const row = (namespace: string, identifier_type: string, identifier_value: string) =>
    world.rows(
      `insert into rollcall_outbox.event (namespace, reg_event_type, record) values ($1, 'Nope', $2)`,
      namespace,
      JSON.stringify({ identifier: [{ identifier_type, identifier_value }], name: { surname: 'Castellan' } }),
    )
  const ids = async () => (await world.rows('select id::integer from rollcall_outbox.event order by id')).map(({ id }) => id)
  const record = { '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: '60' }] }
  await writeDocuments(world.database, civil, [
    { ...record, identifier: [...record.identifier, { identifier_type: 'BRN', identifier_value: 'B-60' }] },
  ])
  for (const namespace of ['civil', 'social', 'civil-typo']) await row(namespace, 'uin', ' 60 ')
  await row('civil', 'UIN', '61')
  const log = { warn: () => undefined, error: () => undefined }
  const deps = { ...acting(world.deps()), log, outboxWake: { raise: () => undefined } }
  await publishOutbox(deps, new AbortController().signal)
  expect(await world.rows('select from rollcall_outbox.event where failed_at is not null')).toHaveLength(4)
  await row('civil', 'BRN', 'B-60')
  const stays = (await ids())[3]

  const dry = await erasePerson(acting(world.deps()), { type: 'UIN', value: '60', reason, dry_run: true })
  expect([dry.outbox, (await ids()).length]).toEqual([4, 5])
  expect(await erasePerson(acting(world.deps()), { type: 'UIN', value: '60', reason })).toMatchObject({ outbox: 4 })
  expect(await ids()).toEqual([stays])
  await deleteRecords(acting(world.deps()), { namespace: 'civil', record_type: 'Person', identifiers: ['60'] })
  await world.rows(`update rollcall_outbox.event set reg_event_type = 'LiveBirth'`)
  await retryOutbox(acting(world.deps()), {})
  await publishOutbox(deps, new AbortController().signal)
  expect(await ids()).toEqual([])
  await expect(showRecord(acting(world.deps()), { namespace: 'civil', type: 'UIN', value: '60' })).rejects.toThrow(
    'no record of civil has this identifier',
  )
  expect(await erasePerson(acting(world.deps()), { type: 'UIN', value: '60', reason })).toMatchObject({
    outbox: 0,
    tombstones: 1,
  })
})

test('a record that was merged into that of the person is erased with it', async () => {
  const { db } = world.database
  const { auditLog } = world
  const uin = (identifier_value: string) => ({ identifier_type: 'UIN', identifier_value })
  await writeDocuments(world.database, civil, [
    { '@type': 'Person', identifier: [uin('8')] },
    { '@type': 'Person', identifier: [uin('9')] },
  ])
  await subscribeLive(db, civil, 'MARRIAGE', { uin: { eq: '9' } })
  await publishEvent(acting(world.deps()), {
    namespace: 'civil',
    reg_event_type: 'MARRIAGE',
    record: { identifier: [uin('9')], name: { surname: 'Ferreira' } },
  })
  await auditLog.write(auditEntry({ operation: 'search' }), [person('UIN', '9', 'seen')])
  await mergeRecords(acting(world.deps()), { namespace: 'civil', survivor: uin('8'), retired: uin('9') })
  const erased = await erasePerson(acting(world.deps()), { type: 'UIN', value: '8', reason })
  expect(erased).toMatchObject({ identifiers: 2, accounts: { entries: 1, rows: 1 } })
  expect(JSON.stringify(await world.rows('select event::text from event'))).not.toContain('Ferreira')
})

test('an identifier type that the operator added names the person, by its alias too', async () => {
  const { db } = world.database
  await addIdentifierType(acting({ db }), { namespace: 'civil', name: 'CEDULA', aliases: ['id_card'] })
  const registry = await requireRegistry(db, 'civil')
  const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })
  await writeDocuments(world.database, registry, [
    { '@type': 'Person', identifier: [id('UIN', '20'), id('CEDULA', 'C-20')], name: { surname: 'Reyes' } },
  ])
  await world.auditLog.write(auditEntry({ operation: 'search' }), [person('CEDULA', 'C-20'), person('UIN', '20', 'seen')])
  const erased = await erasePerson(acting(world.deps()), { type: 'ID_CARD', value: 'c-20', reason })
  expect(erased).toMatchObject({
    identifiers: 2,
    accounts: { entries: 1, rows: 2, held: 0 },
    records: [{ namespace: 'civil', record_type: 'Person' }],
  })
})

test('a hold of the person refuses it, one of a participant keeps what it covers', async () => {
  await world.auditLog.write(auditEntry({ participant: 'held.example' }), [person('UIN', '1')])
  const held = await addHold(acting(world.deps()), { person: { type: 'BRN', value: 'B-1' }, reason })
  await expect(erasePerson(acting(world.deps()), { type: 'UIN', value: '1', reason })).rejects.toThrow(
    `hold ${held.id} covers this person: nothing is erased while it is in force`,
  )
  await removeHold(acting(world.deps()), { id: held.id })
  const year = { from: '2000-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' }
  const period = await addHold(acting(world.deps()), { ...year, reason })
  const kept = await erasePerson(acting(world.deps()), { type: 'UIN', value: '1', reason })
  expect(kept.accounts).toMatchObject({ rows: 0 })
  expect(kept.accounts.held).toBeGreaterThan(0)
  await removeHold(acting(world.deps()), { id: period.id })
})

test.each([
  [{ type: 'NOPE', value: '1' }, 'type: no registry has identifiers of this type'],
  [{ type: 'MRN', value: 'M-1' }, 'value: more than one Person of civil has it; give an identifier of one person'],
  [{ type: 'UIN', value: '' }, 'value: it is not a valid UIN'],
])('%j is refused', async (input, message) => {
  await expect(erasePerson(acting(world.deps()), { ...input, reason })).rejects.toThrow(message)
})

test('an operator sees a record whole, and the access has an audit entry before', async () => {
  const found = await showRecord(acting(world.deps()), { namespace: 'civil', type: 'uin', value: '1' })
  expect(found).toMatchObject([{ record_type: 'Person', record: { name: { surname: 'Okoro' } } }])
  const [logged] = await world.rows('select entry::json as entry from account order by at desc, sequence desc limit 1')
  expect(logged?.entry).toMatchObject({
    kind: 'operator',
    operator: 'tester',
    registry: 'civil',
    note: 'record get',
    records: 1,
    shown: { Person: expect.arrayContaining(['name.surname']) },
  })
  await expect(showRecord(acting(world.deps()), { namespace: 'civil', type: 'UIN', value: '99' })).rejects.toThrow(
    'no record of civil has this identifier',
  )
  await expect(showRecord(acting(world.deps()), { namespace: 'civil', type: 'NOPE', value: '9' })).rejects.toThrow(
    /^type: civil has identifiers of the types UIN/,
  )
})

test('the entry about two records of one type says what both show', async () => {
  const shared = { identifier_type: 'MRN', identifier_value: 'M-70' }
  const record = (uin: string, more: object) => ({
    '@type': 'Person',
    identifier: [{ identifier_type: 'UIN', identifier_value: uin }, shared],
    ...more,
  })
  await writeDocuments(world.database, civil, [record('70', { sex: 'F' }), record('71', { birth_place: 'Tarn' })])
  expect(await showRecord(acting(world.deps()), { namespace: 'civil', type: 'MRN', value: 'M-70' })).toHaveLength(2)
  const [logged] = await world.rows('select entry::json as entry from account order by at desc, sequence desc limit 1')
  expect(logged?.entry).toMatchObject({
    records: 2,
    shown: { Person: expect.arrayContaining(['identifier.identifier_value', 'sex', 'birth_place']) },
  })
})

test('a deleted record leaves a tombstone, which is erased as well', async () => {
  await deleteRecords(acting(world.deps()), { namespace: 'civil', record_type: 'Person', identifiers: ['2'] })
  expect(await world.rows('select from record_tombstone')).toHaveLength(1)
  expect(await erasePerson(acting(world.deps()), { type: 'UIN', value: '2', reason })).toMatchObject({ tombstones: 1 })
  expect(await world.rows('select from record_tombstone')).toEqual([])
})

test('the tombstone of an earlier record of the person is erased by whatever identifier the person is named', async () => {
  const identifier = [
    { identifier_type: 'UIN', identifier_value: '40' },
    { identifier_type: 'BRN', identifier_value: 'B-40' },
  ]
  const write = () => writeDocuments(world.database, civil, [{ '@type': 'Person', identifier }])
  await write()
  await deleteRecords(acting(world.deps()), { namespace: 'civil', record_type: 'Person', identifiers: ['40'] })
  await write()
  const lines: unknown[] = []
  const journal: Journal = {
    ...world.database.db.journal,
    write(line, commit) {
      lines.push(line)
      return commit()
    },
  }
  const deps = acting({ ...world.deps(), db: { ...world.database.db, journal } })
  expect(await erasePerson(deps, { type: 'BRN', value: 'B-40', reason })).toMatchObject({ tombstones: 1 })
  expect(await world.rows('select from record_tombstone')).toEqual([])
  const primary_identifier = '40'
  expect(lines).toMatchObject([{ forgotten: [{ registry: 'civil', record_type: 'Person', primary_identifier }] }])
})

test('audit verify finds nothing wrong after the erasures, and what is altered after them', async () => {
  await world.auditLog.write(auditEntry({ operation: 'search' }), [person('UIN', '1'), person('UIN', '2')])
  const { accounts } = await erasePerson(acting(world.deps()), { type: 'UIN', value: '1', reason })
  expect(accounts.rows).toBeGreaterThan(0)
  expect(await places(world.database)).toEqual([])
  // Whoever deletes a row without a tombstone, or makes the tombstone say more, is found.
  const [left] = await world.rows(`select chain::text, sequence, position from ${personRowsSql()} as person limit 1`)
  await dropPerson(world.database, String(left?.chain), Number(left?.sequence), Number(left?.position))
  const missing = await places(world.database)
  expect(missing).toEqual([expect.stringMatching(/^person_missing /)])
  await tamper(world.database, `update account_tombstone set content = replace(content, $1, $2)`, [
    ...['order 12/2026', 'order 13/2026'],
  ])
  expect(await places(world.database)).toContainEqual(expect.stringMatching(/^tombstone/))
})

test('a hold that is added while the person is erased is in force: nothing is erased, and no line is written', async () => {
  const { db } = world.database
  const keys = await loadAuditKeys(db, await vaultOf(db))
  const pseudonyms = [pseudonymOf(keys.pseudonyms, { type: 'UIN', value: '31' })]
  await world.auditLog.write(auditEntry({ operation: 'search' }), [person('UIN', '31')])
  const lines: unknown[] = []
  const journal = {
    ...db.journal,
    write<Result>(line: unknown, commit: () => Promise<Result>): Promise<Result> {
      lines.push(line)
      return commit()
    },
  }
  const deps = acting({ ...world.deps(), db: { ...db, journal } })
  const erase = () => erasePerson(deps, { type: 'UIN', value: '31', reason })
  let refused: Promise<unknown> = Promise.resolve()
  await withTransaction(db.pool, async (client) => {
    const hold = { kind: 'person', participant: null, begins_at: null, ends_at: null, reason, created_by: 'bea' } as const
    await insertHold({ pool: client as never }, { ...hold, pseudonyms })
    refused = erase().catch(({ message }: Error) => message)
    const waiting = `select from pg_locks join pg_database on pg_database.oid = database
      where not granted and datname = current_database()`
    await vi.waitFor(async () => expect(await world.rows(waiting)).toHaveLength(1), { timeout: 30_000, interval: 10 })
  })
  expect(await refused).toMatch(/^hold \d+ covers this person: nothing is erased while it is in force$/)
  expect(lines).toEqual([])
  await db.pool.query(`update hold set removed_at = now(), removed_by = 'bea' where removed_at is null`)
  expect(await erase()).toMatchObject({ accounts: { rows: 1 } })
  expect(lines).toMatchObject([{ kind: 'person_erased', holds: [] }])
})
