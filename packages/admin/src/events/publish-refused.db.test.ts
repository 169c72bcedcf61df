/** The events that an operator may not publish: each refusal has its text, and nothing is stored. */
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { JsonObject } from '@rollcall/protocol'
import { addRegistry } from '@rollcall/records/registries/registries'
import type { Static } from 'typebox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import type { RefusalReason } from '../admin-function.ts'
import { publishEvent } from './publish.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  for (const kind of ['civil', 'social']) await addRegistry(database.db, { namespace: kind, kind, sender_id: `${kind}.example` })
})
afterAll(() => database.close())

type Input = Static<(typeof publishEvent)['input']>
const deps = () => acting({ db: database.db, limits: DEFAULT_LIMITS, now: () => new Date('2026-06-15T09:00:00Z') })
const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })
const person = (members: JsonObject = {}, uin = 'U-44') => ({ identifier: [id('UIN', uin)], ...members })

const publish = (reg_event_type: string, record: JsonObject, more: Partial<Input> = {}) =>
  publishEvent(deps(), { namespace: 'civil', reg_event_type, record, ...more })

/** The number of events, and of records of the person of these tests. */
const stored = async () =>
  (
    await database.db.pool.query(
      `select (select count(*) from event)::int as events,
        (select count(*) from r1_person where primary_identifier = 'U-44')::int as records`,
    )
  ).rows

async function refused(asked: Promise<unknown>, message: string) {
  await expect(asked).rejects.toMatchObject({ name: 'AdminRefusal', message, reason: 'invalid' })
}

describe('refused', () => {
  const types = 'LiveBirth, Death, FetalDeath, Marriage, Divorce, Adoption, REGISTER, UPDATE, CANCEL, CORRECTION'
  test.each<[string, Partial<Input>, string, RefusalReason]>([
    [
      'an unknown namespace',
      { namespace: 'nowhere' },
      'namespace: there is no registry at nowhere; rollcall registry list shows those there are',
      'not_found',
    ],
    ['another event type', { reg_event_type: 'Moved' }, `reg_event_type: must be one of ${types}`, 'invalid'],
    ['a record of another kind', { record: person({ '@type': 'Farmer' }) }, 'record.@type: must be one of Person', 'invalid'],
    ['another record type', { record_type: 'Group' }, 'record_type: must be one of Person', 'invalid'],
    ['no identifier', { record: { sex: 'F' } }, 'record: no usable UIN, by which a Person is known', 'invalid'],
    [
      'two identifiers',
      { record: { identifier: [id('UIN', '1'), id('UIN', '2')] } },
      'record: more than one UIN, by which a Person is known',
      'invalid',
    ],
    ['no object', { record: [] as never }, 'record: must be an object', 'invalid'],
    ['8 MB', { record: person({ note: 'x'.repeat(8 * 1024 * 1024) }) }, 'record: must be at most 8388608 bytes', 'invalid'],
    [
      'a half character',
      { record: person({ note: '\ud800' }) },
      'record: cannot be written as canonical JSON (RFC 8785)',
      'invalid',
    ],
    [
      'a NUL',
      { record: person({ note: '\u0000' }) },
      'record: the document has a NUL character, which no column can hold',
      'invalid',
    ],
    ['another member', { nonsense: 1 } as never, 'nonsense: is not a known member', 'invalid'],
    ['a time without a zone', { occurred_at: '2026-06-15T09:00:00' }, 'occurred_at: ', 'invalid'],
    ['the year 0', { occurred_at: '0000-01-01T00:00:00Z' }, 'occurred_at: must be a date-time', 'invalid'],
    ['the year 10000', { occurred_at: '9999-12-31T23:59:59-01:00' }, 'occurred_at: must be a date-time', 'invalid'],
    ['half a version', { source_version: 1.5 }, 'source_version: ', 'invalid'],
    [
      'a removal from another list',
      { remove: { name: ['x'] } },
      'remove: each member must be one of the lists identifier',
      'invalid',
    ],
    [
      'what would lose identifiers',
      { record: person({ 'spdci:identifier': null }) },
      'record: no usable UIN, by which a Person is known',
      'invalid',
    ],
    [
      'a correction of nothing',
      { reg_event_type: 'CANCEL' },
      'corrects: must name the event_id of the event for reg_event_type CANCEL',
      'invalid',
    ],
    [
      'a correction of an unknown event',
      { reg_event_type: 'CORRECTION', corrects: 'x' },
      'corrects: there is no event with this event_id',
      'not_found',
    ],
    [
      'corrects beside another type',
      { corrects: 'x' },
      'corrects: goes with reg_event_type CANCEL and CORRECTION alone',
      'invalid',
    ],
  ])('%s', async (_, more, message, reason) => {
    const asked = publishEvent(deps(), { namespace: 'civil', reg_event_type: 'UPDATE', record: person(), ...more })
    await expect(asked).rejects.toMatchObject({ name: 'AdminRefusal', message: expect.stringContaining(message), reason })
    expect(await stored()).toEqual([{ events: 0, records: 0 }])
  })

  test('a correction of another person', async () => {
    await publish('Death', person({}, 'U-45'), { event_id: 'death' })
    await refused(publish('CANCEL', person(), { corrects: 'death' }), 'corrects: must name an event of this record')
    expect(await stored()).toEqual([{ events: 1, records: 0 }])
  })

  test('a type of record that can mean two, until it is said which', async () => {
    const record = { '@type': ['Member', 'Group'], member_identifier: [id('UIN', '1')] }
    const asked = { namespace: 'social', reg_event_type: 'REGISTER', record }
    await refused(publishEvent(deps(), asked), 'record.@type: can mean Member or Group; say which with record_type')
    expect(await publishEvent(deps(), { ...asked, record_type: 'SRPerson' })).toMatchObject({ matched: 0 })
  })
})
