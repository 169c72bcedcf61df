import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { readGrant } from '@rollcall/core/policy/grant'
import { canonicalJson, type Kind, kindNamed, NotifyEventRequest, NotifyMeta, parseJson, validator } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { envelopeBounds as clientBounds } from '../../../../client/src/receiver/read-request.ts'
import { callbackNamed } from '../../../../delivery/src/delivery/targets.ts'
import { composeEnvelope, type ItemWithDocument } from '../../../../delivery/src/notify/compose.ts'
import { groupIntoEnvelopes } from '../../../../delivery/src/notify/group-items.ts'
import type { EventDocument, WaitingNotification } from '../../../../delivery/src/store/events/waiting.ts'
import { envelopeBounds, readCallbackEnvelope } from '../../../../participants/src/reading/envelope.ts'
import { waiting } from '../../notifications.ts'

const NOTIFY = callbackNamed('notify')

const SHOWN: EventDocument = { document: '{"a":1,"id":"U-1"}', identifiers: '{"id":"U-1"}' }

function kind(name: string): Kind {
  const found = kindNamed(name)
  if (found === undefined) throw new Error(`no kind ${name}`)
  return found
}

interface Given {
  readonly kind?: string
  readonly unlisted?: boolean
  readonly shown?: EventDocument
  readonly terms?: Partial<GrantTerms>
}

/** Composes an envelope with one item from these notifications. */
function composed(notifications: readonly Partial<WaitingNotification>[], given: Given = {}) {
  const of = kind(given.kind ?? 'civil')
  const [first, ...others] = notifications.map((changes, index) =>
    waiting({ id: index + 1, record_type: of.record_types[0].name, code: `SUB-${index + 1}`, ...changes }),
  )
  if (first === undefined) throw new Error('at least one')
  return composedItems([{ event: 1, notifications: [first, ...others], shown: given.shown ?? SHOWN }], given)
}

function composedItems(items: readonly ItemWithDocument[], given: Given = {}) {
  const of = kind(given.kind ?? 'civil')
  const made = composeEnvelope(
    {
      participant: { sender_id: 'sp.example' } as Participant,
      registry: { sender_id: 'registry.example', kind: of } as Registry,
      grant: readGrant(of, { id: 1, terms: { operations: 'all', see: 'all', basis: 'law', ...given.terms } }),
      settings: { notify_unlisted: given.unlisted ?? false },
      mailbox: 'mailbox-1',
      sequence: 3,
    },
    items,
  )
  // biome-ignore lint/suspicious/noExplicitAny: what is sent is what is asserted
  const sent = (value: object): any => parseJson(canonicalJson(value))
  const { message, header } = made
  return { ...made, header: sent(header), message: sent(message), item: sent(message).notify_event[0] }
}

test('an envelope is what the schemas say', () => {
  const { header, message, item } = composed([{ presence: 'stayed', record_version: 7, locale: 'eng' }])
  expect(validator(NotifyEventRequest).problem(message, 'message')).toBeNull()
  expect(validator(NotifyMeta).problem(header.meta, 'meta')).toBeNull()
  expect(header).toMatchObject({ action: 'notify', status: 'succ', total_count: 1, completed_count: 1 })
  expect(header).toMatchObject({ sender_id: 'registry.example', receiver_id: 'sp.example' })
  const { reference_id } = item
  expect(header.meta).toEqual({
    subscriptions: { [reference_id]: ['SUB-1'] },
    presence: { [reference_id]: { 'SUB-1': 'stayed' } },
    record_version: { [reference_id]: 7 },
    occurred_at: { [reference_id]: '1970-01-01T00:00:00.000Z' },
    recorded_at: { [reference_id]: '1970-01-01T00:00:00.000Z' },
    mailbox: 'mailbox-1',
    sequence: 3,
  })
  expect(item).toMatchObject({ timestamp: '1970-01-01T00:00:00.000Z', locale: 'eng' })
  expect(item.data).toMatchObject({ reg_record_type: 'Person', reg_records: { a: 1, id: 'U-1' } })
  expect(item.data.reg_type).toMatch(/:Civil$/)
})

test('of a record that has left, or is deleted, the identifiers alone are sent', () => {
  const left = { presence: 'left' } as const
  expect(composed([left, left]).item.data.reg_records).toEqual({ id: 'U-1' })
  expect(composed([left, { presence: 'stayed' }]).item.data.reg_records).toEqual({ a: 1, id: 'U-1' })
  const shown = { ...SHOWN, document: null }
  expect(composed([{ presence: 'entered' }], { shown }).item.data.reg_records).toEqual({ id: 'U-1' })
})

test('types have the spelling that the oldest subscriber used; of events where the list of the kind is open', () => {
  const [spelled, bare] = ['spdci-common:RegistryEventType:LiveBirth', 'birth']
  const both = [
    { subscription: 9, asked_event_type: bare },
    {
      subscription: 4,
      asked_event_type: spelled,
      asked_reg_type: 'ns:org:RegistryType:Civil',
      asked_record_type: 'spdci-extensions-dci:Person',
    },
  ]
  expect(composed(both).item.data).toMatchObject({
    reg_event_type: spelled,
    reg_type: 'ns:org:RegistryType:Civil',
    reg_record_type: 'spdci-extensions-dci:Person',
  })
  expect(composed([{ event_type: 'CANCEL', asked_event_type: bare }]).item.data.reg_event_type).toBe('CANCEL')
})

test('where the list of a kind is closed, its own name is sent; others as the participant is set', () => {
  const of = (event_type: string, unlisted = false) =>
    composed([{ event_type, subscribed: event_type, asked_event_type: 'ns:REGISTRATION' }], { kind: 'social', unlisted }).item
      .data
  expect(of('REGISTER').reg_event_type).toBe('REGISTER')
  expect(of('UPDATE')).not.toHaveProperty('reg_event_type')
  expect(of('UPDATE', true).reg_event_type).toBe('UPDATE')
})

test('a correction names the item that it corrects, and what is sent again keeps its name', () => {
  const { header, item } = composed([{ purpose: 'correction', corrected_reference_id: 'earlier' }])
  expect(header.meta.corrects).toEqual({ [item.reference_id]: 'earlier' })
  expect(composed([{ reference_id: 'as-before' }]).item.reference_id).toBe('as-before')
})

test('a record that was merged into another one: the primary identifier of that one, in every kind', () => {
  const merged: Partial<WaitingNotification> = {
    event_type: 'CANCEL',
    purpose: 'correction' as const,
    presence: 'left' as const,
    replaced_by: { type: 'UIN', value: 'U-1' },
  }
  const { header, item } = composed([merged])
  expect(item.data.reg_event_type).toBe('CANCEL')
  expect(header.meta.replaced_by).toEqual({ [item.reference_id]: { identifier_type: 'UIN', identifier_value: 'U-1' } })
  expect(validator(NotifyMeta).problem(header.meta, 'meta')).toBeNull()
  const listed = composed([merged], { kind: 'social' })
  expect(listed.item.data).not.toHaveProperty('reg_event_type')
  expect(Object.keys(listed.header.meta.replaced_by)).toEqual([listed.item.reference_id])
  expect(composed([{}]).header.meta).not.toHaveProperty('replaced_by')
})

test('a record that took the place of another is named as it writes itself, and audited as it is known', () => {
  const { header, item, named } = composed([{ replaced_by: { type: 'uin', value: 's1t-c88' } }])
  expect(header.meta.replaced_by).toEqual({ [item.reference_id]: { identifier_type: 'uin', identifier_value: 's1t-c88' } })
  expect(named).toEqual([{ role: 'seen', identifiers: [{ type: 'UIN', value: 'S1T-C88' }] }])
})

test('an item of a backfill has the day of its record, because its own time says which records were queued together', () => {
  const [day, queued] = ['2026-03-01T00:00:00.000Z', '2026-11-26T16:00:00.123Z']
  const times = { occurred_at: new Date(day), recorded_at: new Date(queued) }
  const timesOf = (changes: Partial<WaitingNotification>) => {
    const { header, item } = composed([{ ...times, ...changes }])
    return [header.meta.occurred_at, header.meta.recorded_at].map((named) => named[item.reference_id]).concat(item.timestamp)
  }
  expect(timesOf({ purpose: 'backfill' })).toEqual([day, day, day])
  expect(timesOf({ purpose: 'backfill', corrected_notification: 5 })).toEqual([day, queued, queued])
  expect(timesOf({ purpose: 'event' })).toEqual([day, queued, queued])
})

test.each(['test', 'backfill'] as const)('a %s is marked', (purpose) => {
  expect(composed([{ purpose }]).header.meta[purpose]).toBe(true)
  expect(composed([{}]).header.meta).not.toHaveProperty(purpose)
})

test('it leaves encrypted where one of its subscribers asked encrypted', () => {
  expect(composed([{}, {}]).encrypted).toBe(false)
  expect(composed([{}, { encrypted: true }]).encrypted).toBe(true)
})

test('a correction names what it corrects, also in the same envelope', () => {
  const of = kind('civil')
  const one = (changes: Partial<WaitingNotification>): ItemWithDocument => {
    const notification = waiting({ record_type: of.record_types[0].name, ...changes })
    return { event: notification.event, notifications: [notification], shown: SHOWN }
  }
  const { header, message } = composeEnvelope(
    {
      participant: { sender_id: 'sp.example' } as Participant,
      registry: { sender_id: 'registry.example', kind: of } as Registry,
      grant: readGrant(of, { id: 1, terms: { operations: 'all', see: 'all', basis: 'law' } }),
      settings: { notify_unlisted: false },
      mailbox: 'mailbox-1',
      sequence: 1,
    },
    [one({ id: 1, event: 1 }), one({ id: 2, event: 2, purpose: 'correction', corrected_notification: 1 })],
  )
  // biome-ignore lint/suspicious/noExplicitAny: what is sent is what is asserted
  const [death, cancel] = message.notify_event as any
  expect(header.meta).toMatchObject({ corrects: { [cancel.reference_id]: death.reference_id } })
})

test('a beneficiary registry notifies the plain member; of a record that has left, its identifiers', () => {
  const shown = {
    document: canonicalJson({ '@type': 'Beneficiary', member: { member_identifier: 'HS-89', is_disabled: '1' } }),
    identifiers: canonicalJson({ '@type': 'Beneficiary', member: { member_identifier: 'HS-89' } }),
  }
  const member_identifier = [{ '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'HS-89' }]
  const recordOf = (presence: WaitingNotification['presence']) =>
    composed([{ presence, event_type: 'enrollement' }], { kind: 'ibr', shown }).item.data
  expect(recordOf('stayed')).toMatchObject({
    reg_event_type: 'enrollement',
    reg_record_type: 'Member',
    reg_records: { '@type': 'Member', member_identifier, is_disabled: true },
  })
  expect(recordOf('left').reg_records).toEqual({ '@type': 'Member', member_identifier })
})

test.each<[string, Partial<GrantTerms>, boolean]>([
  ['identifiers may be seen', { see: ['identifier'] }, true],
  ['they may not', { see: ['sex'] }, false],
  ['those of another type may', { see: ['identifier'], identifier_types: ['BRN'] }, false],
  ['those of another type may, and everything else', { see: 'all', identifier_types: ['BRN'] }, false],
])('a record that took the place of another is named where %s', (_, terms, named) => {
  const { header } = composed([{ replaced_by: { type: 'UIN', value: 'U-1' } }], { terms })
  expect('replaced_by' in header.meta).toBe(named)
})

test('a notification under consents shows what they cover, and what the grant shows of it', () => {
  const document = '{"birth_date":"1990-05-05","name":{"given_name":"Ada","surname":"Obi"},"sex":"F"}'
  const shown = { document, identifiers: '{}' }
  const consent = (...attributes: string[]) => ({ purpose: 'eligibility', authority: 'https://consent.example', attributes })
  const terms = { see: ['surname', 'sex', 'birth_date'] }
  const records = (...consents: WaitingNotification['consent'][]) =>
    composed(
      consents.map((one) => ({ consent: one })),
      { shown, terms },
    ).item.data.reg_records
  expect(records(consent('surname', 'given_name'))).toEqual({ name: { surname: 'Obi' } })
  expect(records(consent('surname'), consent('sex'))).toEqual({ name: { surname: 'Obi' }, sex: 'F' })
  expect(records(consent('death_date'))).toEqual({})
})

test.each([
  { events: 1_000, subscriptions: 3, envelopes: 2 },
  { events: 1_000, subscriptions: 1, envelopes: 1 },
  { events: 1, subscriptions: 1_001, envelopes: 2 },
])('our receivers accept the envelopes of $events events with $subscriptions subscriptions each', (given) => {
  const due = Array.from({ length: given.events * given.subscriptions }, (_, at) =>
    waiting({ id: at + 1, event: Math.floor(at / given.subscriptions), code: `SUB-${at % given.subscriptions}` }),
  )
  const planned = groupIntoEnvelopes(due, { notify_items: 1_000, notify_bytes: 67_108_864 })
  expect(planned).toHaveLength(given.envelopes)
  for (const items of planned) {
    const { header, message } = composedItems(items.map((item) => ({ ...item, shown: SHOWN })))
    const text = JSON.stringify({ signature: '', header: { ...header, is_msg_encrypted: false }, message })
    const bounds = envelopeBounds(DEFAULT_LIMITS, NOTIFY.message)
    expect(readCallbackEnvelope(NOTIFY, 'registry.example', text, bounds).header.action).toBe('notify')
    expect(parseJson(text, clientBounds(400_000, [NOTIFY.message]))).toBeDefined()
  }
  expect(planned.flat().flatMap(({ notifications }) => notifications)).toHaveLength(due.length)
})
