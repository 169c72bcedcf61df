/** Several writers of the same people, scheduled statuses, and people who are deleted. */
import { randomUUID } from 'node:crypto'
import { publishEvent } from '@rollcall/admin/events/publish'
import { createSemaphore } from '@rollcall/base/shared/semaphore'
import { readGrant } from '@rollcall/core/policy/grant'
import { openDatabase } from '@rollcall/database/database'
import { inTransaction } from '@rollcall/database/transaction'
import { applyScheduledStatuses } from '@rollcall/engine/operations/scheduled-statuses'
import { type JsonObject, operation } from '@rollcall/protocol'
import { OWN_TABLES_SINK } from '@rollcall/records/records/record-sink'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { answerEnrolmentUpdates } from '../../../../engine/src/operations/enrolment-updates.ts'
import { EVERYTHING } from '../../../../participants/test/grants.ts'
import { beneficiary, enrolment, enrolmentServer, updatesMessage } from '../../enrolment-updates.ts'
import { registered } from '../../sealing.ts'
import { writeDocuments } from '../../server.ts'

const { server, sp, registry, send, update, found, enrolled } = await enrolmentServer()
const other = await server.participant('other.example')
const MINUTE = 60_000
const { signal } = new AbortController()
const elsewhere = openDatabase(server.database.connection)
afterAll(() => elsewhere.close())

/** On another node. */
async function updateElsewhere(beneficiaries: readonly object[]) {
  const { header, message } = updatesMessage(sp, beneficiaries)
  const exchange = {
    correlation_id: randomUUID(),
    operation: operation('enrolment-updates'),
    registry,
    participant: await registered(server, sp.sender_id),
    header,
    encrypted: false,
    grant: readGrant(registry.kind, { id: 1, terms: EVERYTHING }),
    received_at: new Date(),
    isGone: () => false,
    traceparent: null,
  }
  const deps = { ...server.context, db: elsewhere, turns: createSemaphore(1) }
  const { members } = await answerEnrolmentUpdates(deps, { exchange, message })
  return members.enrolled_response
}

describe('people whom entries far from each other name', () => {
  const others = (from: number) => Array.from({ length: 55 }, (_, at) => beneficiary(`O-${from + at}`))
  const also = (identifier_type: string, identifier_value: string) => ({
    demographic_info: { person: { identifier: [{ identifier_type, identifier_value }] } },
  })
  const events = async (uin: string) => {
    const { rows } = await server.database.db.pool.query<{ event_type: string }>(
      `select event_type from event join r${registry.id}_beneficiary as own on own.id = event.record
       where primary_identifier = $1 order by event.id`,
      [uin],
    )
    return rows.map(({ event_type }) => event_type)
  }

  it('are written with all of it, and have the events of one change', async () => {
    const last = [{ identifier_type: 'NID', identifier_value: 'N-80' }]
    await update([
      beneficiary('U-80', enrolment('PRG-1'), also('NID', 'N-80')),
      ...others(0),
      beneficiary(last, enrolment('PRG-2'), { ...also('NID', 'N-81'), occupation: 'baker' }),
    ])
    const [{ member }] = await found('NID', 'N-80')
    expect(member).toMatchObject({ occupation: 'baker' })
    expect(member.programme_identifier).toHaveLength(2)
    expect(await found('NID', 'N-81')).toHaveLength(1)
    const once = await events('O-1')
    expect(once).toHaveLength(1)
    expect(await events('U-80')).toEqual(once)
  })

  it('are as before, without an event, where a later entry takes back an earlier one', async () => {
    const enrolled = enrolment('PRG-1', { status_change_date: '2026-03-01' })
    await update([beneficiary('U-81', enrolled)])
    const before = await found('UIN', 'U-81')
    const known = await events('U-81')
    const [first, second] = [{ occupation: 'baker' }, { occupation: null }]
    await update([beneficiary('U-81', enrolled, first), ...others(100), beneficiary('U-81', enrolled, second)])
    expect(await found('UIN', 'U-81')).toEqual(before)
    expect(await events('U-81')).toEqual(known)
  })
})

describe('writers at the same time', () => {
  it('lose nothing of one person, whether or not the person was there', async () => {
    const programmes = Array.from({ length: 12 }, (_, at) => `PRG-${at}`)
    const sent = programmes.map((name, at) => {
      const also = [beneficiary(`U-${at}`), beneficiary(`U-${11 - at}`)]
      const all = [...also, beneficiary('U-100', enrolment(name), { [`member_${at}`]: at })]
      if (at % 3 === 0) return updateElsewhere(all)
      return update(all, { by: at % 3 === 1 ? sp : other })
    })
    for (const answer of await Promise.all(sent)) {
      expect(answer).toMatchObject([{ status: 'succ' }, { status: 'succ' }, { status: 'succ' }])
    }
    const [{ member }] = await found('UIN', 'U-100')
    expect(member.programme_identifier).toHaveLength(programmes.length)
    expect(member).toMatchObject(Object.fromEntries(programmes.map((_, at) => [`member_${at}`, at])))
  })

  it('one identifier never comes to name two people', async () => {
    const also = (value: string) => ({
      demographic_info: { person: { identifier: { identifier_type: 'NID', identifier_value: value } } },
    })
    const claims = Array.from({ length: 6 }, (_, at) =>
      (at % 2 === 0 ? update : updateElsewhere)([beneficiary(`U-2${at}`, undefined, also('N-1'))]),
    )
    const statuses = (await Promise.all(claims)).flat().map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([...Array(5).fill('rjct'), 'succ'])
    expect(await found('NID', 'N-1')).toHaveLength(1)
  })

  it('an import of the same people at the same time is waited for', async () => {
    const client = await elsewhere.pool.connect()
    try {
      await client.query('begin')
      await client.query(`select from r${registry.id}_beneficiary where primary_identifier = 'U-100' for update`)
      const updating = update([beneficiary('U-100', enrolment('PRG-0', { note: 1 }))])
      await client.query('commit')
      expect(await updating).toMatchObject([{ status: 'succ' }])
    } finally {
      client.release()
    }
    await writeDocuments(server.database, registry, [beneficiary('U-30', enrolment('PRG-1'))])
    await update([beneficiary('U-30', enrolment('PRG-2'))])
    const [{ member }] = await found('UIN', 'U-30')
    expect(member.programme_identifier).toHaveLength(2)
  })
})

describe('a scheduled status', () => {
  const schedule = async (uin: string, minutes: number) => {
    const status_change_date = new Date(server.clock.date() + minutes * MINUTE).toISOString()
    const leaving = enrolment('PRG-1', { enrolment_status: 'Suspended', status_change_date })
    await update([beneficiary(uin, enrolment('PRG-1')), beneficiary(uin, leaving)])
  }
  const status = async (uin: string) => (await found('UIN', uin))[0].member.programme_identifier.enrolment_status
  const events = async () => (await server.database.db.pool.query('select event_type from event')).rows
  const run = () => applyScheduledStatuses(server.context, signal)

  it('begins at its time, for a question at once, and for a search with the next run and its event', async () => {
    await schedule('U-40', 1)
    await schedule('U-41', 3)
    expect([await enrolled('U-40'), await status('U-40'), await run()]).toEqual(['yes', 'Active', 0])
    server.clock.pass(MINUTE)
    expect([await enrolled('U-40'), await status('U-40')]).toEqual(['no', 'Active'])
    await server.database.db.pool.query('delete from event')
    expect([await run(), await run(), await status('U-40'), await status('U-41')]).toEqual([...[1, 0, 'Suspended', 'Active']])
    expect(await events()).toEqual([{ event_type: 'enrollement_status_change' }])
    server.clock.pass(2 * MINUTE)
    await Promise.all([run(), applyScheduledStatuses({ ...server.context, db: elsewhere }, signal)])
    expect((await events()).length).toBe(2)
    expect(await status('U-41')).toBe('Suspended')
  })

  it('that cannot begin is logged, and keeps no other from it', async () => {
    const { pool } = server.database.db
    for (const uin of ['U-60', 'U-61', 'U-62']) await schedule(uin, 1)
    server.clock.pass(MINUTE)
    const table = `r${registry.id}_beneficiary`
    await pool.query(`alter table ${table} add constraint refused check (primary_identifier <> 'U-61') not valid`)
    expect([await run(), await status('U-60'), await status('U-61'), await status('U-62')]).toEqual([
      ...[2, 'Suspended', 'Active', 'Suspended'],
    ])
    expect(server.logged().match(/a scheduled status of an enrolment could not begin/g)).toHaveLength(1)
    await pool.query(`alter table ${table} drop constraint refused`)
    expect([await run(), await status('U-61')]).toEqual([1, 'Suspended'])
  })

  it('that no record can be made of stays due, and is logged, and the question is answered as before', async () => {
    const { pool } = server.database.db
    const rename = (from: string, to: string) =>
      pool.query(
        `update r${registry.id}_beneficiary set document = replace(document, $1, $2) where primary_identifier = 'U-63'`,
        [from, to],
      )
    const count = () =>
      server.logged().match(/a scheduled status of an enrolment could not begin; tried again soon/g)?.length ?? 0
    const logged = count()
    await schedule('U-63', 1)
    await rename('member_identifier', 'former_identifier')
    server.clock.pass(MINUTE)
    expect([await run(), await enrolled('U-63')]).toEqual([0, 'no'])
    expect(count()).toBe(logged + 1)
    expect(server.logged()).toContain('"error":"InvalidRecord"')
    await rename('former_identifier', 'member_identifier')
    expect([await run(), await status('U-63'), await enrolled('U-63')]).toEqual([1, 'Suspended', 'no'])
  })

  it('of a person who is deleted is forgotten with all that was written', async () => {
    await schedule('U-50', 1)
    const [recordType] = registry.kind.record_types
    const client = await elsewhere.pool.connect()
    await inTransaction(client, () => OWN_TABLES_SINK.deleteRecords(client, registry, recordType, ['U-50']))
    client.release()
    server.clock.pass(2 * MINUTE)
    expect(await run()).toBe(0)
    await send(updatesMessage(sp, [beneficiary('U-50', 'PRG-2')]))
    expect((await found('UIN', 'U-50'))[0].member.programme_identifier).toEqual({ programme: { programme_identifier: 'PRG-2' } })
  })
})

describe('a status for the same date as one that an update has written', () => {
  const since = { status_change_date: '2026-02-01' }
  const suspended = enrolment('PRG-1', { enrolment_status: 'Suspended', ...since })
  const active = enrolment('PRG-1', since)
  const statuses = async (uin: string) =>
    [(await found('UIN', uin))[0].member.programme_identifier].flat().map(({ enrolment_status }) => enrolment_status)

  it.each([
    ['imported', 'U-70', (record: object) => writeDocuments(server.database, registry, [record])],
    [
      'published',
      'U-71',
      (record: object) => {
        const event = { namespace: 'ibr', reg_event_type: 'enrollement_status_change' }
        return publishEvent(acting(server.context), { ...event, record: record as JsonObject })
      },
    ],
  ])('that was %s stays, when something else is written, and when that update is repeated', async (_, uin, write) => {
    const first = updatesMessage(sp, [beneficiary(uin, suspended)])
    await send(first)
    await write(beneficiary(uin, active))
    await update([beneficiary(uin, enrolment('PRG-2'))])
    expect(await statuses(uin)).toEqual(['Active', 'Active'])
    await send(first)
    expect([await statuses(uin), await enrolled(uin, 'PRG-1')]).toEqual([['Active', 'Active'], 'yes'])
    const later = { header: { message_ts: '2026-03-02T08:00:00Z' } }
    await update([beneficiary(uin, suspended)], later)
    expect(await statuses(uin)).toEqual(['Suspended', 'Active'])
  })
})
