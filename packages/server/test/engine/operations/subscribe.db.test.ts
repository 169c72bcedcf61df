/** The answer to a subscribe request, and the subscriptions that it makes. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { CallbackHeader, RequestHeader, SubscribeResponse, validator } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { multipartBody, uploadParts } from '../../../../engine/test/multipart.ts'
import { accepted, answerExchange, deliverAll } from '../../asynchronous.ts'
import { bearer, post } from '../../server.ts'
import {
  about,
  called,
  KIND_NAMES,
  sentTo,
  storedSubscription,
  subscribed,
  subscribeFor,
  subscribingServer,
} from '../../subscribing.ts'
import { UPLOAD_TYPE } from '../../uploading.ts'

const { server, newPeer } = await subscribingServer()
const { pool } = server.database.db
const peer = await newPeer()

const CODE = /^SUB-[0-9A-HJKMNP-Z]{24}$/
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const IN = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
let count = 0
/** A person that no other test subscribes to. */
const uin = (): string => `U-${count++}-${randomUUID()}`

describe.each(KIND_NAMES)('in a registry of kind %s', (kind) => {
  it('a subscription is made, and answered as it was asked for', async () => {
    const criteria = about(uin(), { version: '1.0.0', reg_type: `x:RegistryType:${kind}` }, kind)
    const { reg_type: _, ...asked } = criteria as Record<string, unknown>
    const body = subscribeFor(peer, [{ subscribe_criteria: asked, locale: 'eng' }])
    const { path, header, message } = await called(server, peer, body, kind)
    expect(path).toBe('/registry/on-subscribe')
    // The headers of a request and of a callback, both (D7).
    expect(validator(CallbackHeader).problem(header, 'header')).toBeNull()
    expect(validator(RequestHeader).problem(header, 'header')).toBeNull()
    expect(header).toMatchObject({
      action: 'on-subscribe',
      status: 'succ',
      total_count: 1,
      completed_count: 1,
      sender_id: `${kind}.example`,
      receiver_id: peer.sender_id,
    })
    expect(validator(SubscribeResponse).problem(message, 'message')).toBeNull()
    expect(message).toEqual({
      transaction_id: body.message.transaction_id,
      correlation_id: expect.any(String),
      subscribe_response: [
        {
          reference_id: 's-0',
          timestamp: expect.stringMatching(UTC),
          status: 'succ',
          subscriptions: [
            {
              ...asked,
              code: expect.stringMatching(CODE),
              status: 'subscribe',
              timestamp: expect.stringMatching(UTC),
              locale: 'eng',
            },
          ],
          pagination: { page_size: 1, page_number: 1, total_count: 1 },
          locale: 'eng',
        },
      ],
    })
    const [row] = await storedSubscription(server, message.subscribe_response[0].subscriptions[0].code)
    expect(row).toMatchObject({ state: 'live', locale: 'eng', person: true, keys: 1, sender_uri: '' })
    expect(row).toMatchObject({ correlation_id: message.correlation_id, reference_id: 's-0' })
  })
})

it('the record type may stand in response_entity, as the social kind has it', async () => {
  const { notify_record_type: _, ...criteria } = about(uin(), { response_fields: ['x'] }, 'social')
  const one = { ...criteria, response_entity: 'Group', filter: { type: 'HOUSEHOLD_ID', value: uin() } }
  const [item] = await subscribed(server, peer, [one], { namespace: 'social' })
  expect(item).toMatchObject({ status: 'succ', subscriptions: [{ notify_record_type: 'Group' }] })
  const [other] = await subscribed(server, peer, [{ ...one, response_entity: 'Cow' }], { namespace: 'social' })
  expect(other).toMatchObject({
    status_reason_code: 'rjct.notify_types.invalid',
    status_reason_message: 'subscribe_criteria.notify_record_type: must be one of Member, Group',
  })
})

it.each(['Idtype-Value', 'IDTYPE'])('the filter type %s is answered as the protocol spells it', async (filter_type) => {
  const { message } = await called(server, peer, subscribeFor(peer, [about(uin(), { filter_type })]))
  expect(validator(SubscribeResponse).problem(message, 'message')).toBeNull()
  expect(message.subscribe_response).toMatchObject([{ status: 'succ', subscriptions: [{ filter_type: 'idtype-value' }] }])
})

it('the example of docs/events.md is answered as it says there', async () => {
  const page = readFileSync(new URL('../../../../../docs/events.md', import.meta.url), 'utf8')
  const section = page.slice(page.indexOf('## Subscribe'))
  const [request, answer] = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => JSON.parse(json))
  const [item] = (await called(server, peer, subscribeFor(peer, [], { message: request }))).message.subscribe_response
  const runs = expect.stringMatching(/^next notifications at \S+Z, \S+Z, \S+Z$/)
  const [subscription] = answer.subscriptions
  const made = { ...subscription, code: expect.stringMatching(CODE), timestamp: expect.stringMatching(UTC) }
  expect(subscription.code).toMatch(CODE)
  expect(item).toEqual({ ...answer, timestamp: expect.stringMatching(UTC), status_reason_message: runs, subscriptions: [made] })
  expect(answer.status_reason_message).toEqual(runs)
})

it('a file of items is a request as well', async () => {
  const body = subscribeFor(peer, [about(uin()), about(uin())])
  const file = JSON.stringify(body)
  const answer = await post(
    `${server.url}/civil/v1.0.0/registry/subscribe`,
    new Uint8Array(multipartBody(uploadParts({ action: 'subscribe', fileFormat: 'json', file }))),
    { ...bearer(peer), 'Content-Type': UPLOAD_TYPE },
  )
  expect(answer.body.message.ack_status).toBe('ACK')
  const { correlation_id } = answer.body.message
  await answerExchange(server, correlation_id)
  await deliverAll(server)
  expect(sentTo(peer, correlation_id).message.subscribe_response).toMatchObject([
    { reference_id: 's-0', status: 'succ' },
    { reference_id: 's-1', status: 'succ' },
  ])
})

describe('a frequency', () => {
  it('is stored, and its next three runs are named', async () => {
    const frequency = { start_time: IN(-1), end_time: IN(400), frequency: '0 0 0 1 1,7 ? *' }
    const [item] = await subscribed(server, peer, [about(uin(), { frequency })])
    expect(item.status_reason_message).toMatch(
      /^next notifications at (\d{4}-0[17]-01T00:00:00\.000Z)(, \d{4}-0[17]-01T00:00:00\.000Z)+$/,
    )
    expect(item.subscriptions[0].frequency).toEqual(frequency)
    const [row] = await storedSubscription(server, item.subscriptions[0].code)
    expect(row).toMatchObject({ cron: '0 0 0 1 1,7 * *', end_at: new Date(frequency.end_time) })
    const [daily] = await subscribed(server, peer, [about(uin(), { frequency: { ...frequency, frequency: 'daily' } })])
    expect(daily.status_reason_message.match(/T00:00:00\.000Z/g)).toHaveLength(3)
  })

  it.each([
    ['* * * *', 'must have 5, 6 or 7 fields'],
    ['* * * * * * * *', 'must have 5, 6 or 7 fields'],
    ['61 * * * *', 'its minute field must have numbers from 0 to 59'],
    ['0 0 31 2 *', 'must have a run between now, or start_time, and end_time'],
    ['* * * * * *', 'must have at least 5 seconds between two runs'],
    ['0 0 L * *', 'its day of month field must not have L, W or #'],
  ])('%j is refused', async (frequency, rule) => {
    const [item] = await subscribed(server, peer, [
      about(uin(), { frequency: { start_time: IN(0), end_time: IN(30), frequency } }),
    ])
    expect(item).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.notify_details.invalid' })
    expect(item.status_reason_message).toContain(rule)
    expect(item).not.toHaveProperty('subscriptions')
  })

  it.each(['start_time', 'end_time'])('without a zone in its %s refuses the request', async (member) => {
    const frequency = { start_time: IN(0), end_time: IN(30), frequency: 'daily', [member]: '2030-01-01T00:00:00' }
    const body = subscribeFor(peer, [about(uin(), { frequency })])
    const answer = await post(`${server.url}/civil/v1.0.0/registry/subscribe`, body, bearer(peer))
    expect(answer.status).toBe(400)
    expect(answer.body.message.error).toMatchObject({ code: 'err.request.bad' })
    expect(answer.body.message.error.message).toContain(`message.subscribe_request[0].subscribe_criteria.frequency.${member}`)
  })
})

describe('refused, each with its code', () => {
  it.each<[string, string, object]>([
    ['rjct.notify_types.invalid', 'reg_event_type: must be one of LiveBirth', { reg_event_type: 'left_the_country' }],
    ['rjct.notify_types.invalid', 'notify_record_type: must be one of Person', { notify_record_type: 'Group' }],
    ['rjct.person_id.invalid', 'filter.type: must be one of UIN', { filter: { type: 'PASSPORT', value: 'P' } }],
    ['rjct.person_id.invalid', 'filter.value: must be a string of 1 to 256', { filter: { type: 'UIN', value: '' } }],
    [
      'rjct.notify_details.invalid',
      'is no attribute that this participant may ask about; those of Person are',
      { filter: { shoe_size: 1 } },
    ],
    ['rjct.notify_details.invalid', 'filter_type: must be one of', { filter_type: 'sql' }],
    [
      'rjct.notify_details.invalid',
      'this participant may not subscribe without a filter',
      { filter: undefined, filter_type: undefined },
    ],
  ])('%s: %s', async (code, message, more) => {
    const [item] = await subscribed(server, peer, [about(uin(), more)])
    expect(item).toMatchObject({ reference_id: 's-0', status: 'rjct', status_reason_code: code })
    expect(item.status_reason_message).toContain(message)
    expect(Object.keys(item)).not.toContain('subscriptions')
  })

  it('item by item: the others are made', async () => {
    const timestamp = new Date().toISOString()
    const item = (reference_id: unknown) => ({ reference_id, timestamp, subscribe_criteria: about(uin()) })
    const body = subscribeFor(peer, [item('a'), item('a'), item(''), { ...item('b'), subscribe_criteria: 'x' }, item('c')])
    const { header, message } = await called(server, peer, body)
    expect(header).toMatchObject({
      status: 'succ',
      total_count: 5,
      completed_count: 5,
      status_reason_message: '3 of 5 items rejected; see each item',
    })
    expect(
      message.subscribe_response.map(({ reference_id, status, status_reason_code }: Record<string, string>) => [
        reference_id,
        status_reason_code ?? status,
      ]),
    ).toEqual([
      ['a', 'succ'],
      ['a', 'rjct.reference_id.duplicate'],
      ['', 'rjct.reference_id.invalid'],
      ['b', 'rjct.notify_details.invalid'],
      ['c', 'succ'],
    ])
    const made = await pool.query('select reference_id from subscription where correlation_id = $1 order by id', [
      message.correlation_id,
    ])
    expect(made.rows).toEqual([{ reference_id: 'a' }, { reference_id: 'c' }])
  })

  it('where there is no address for notifications; the answer is stored', async () => {
    const nowhere = await newPeer()
    await setCallbackSettings(server.database.db, nowhere.id, { default_url: null })
    server.clock.pass(1_000)
    const id = await accepted(server, nowhere, subscribeFor(nowhere, [about(uin())]), 'subscribe')
    await answerExchange(server, id)
    const question = {
      header: { ...subscribeFor(nowhere, []).header, action: 'txn-status' },
      message: {
        transaction_id: 'tx-q',
        txnstatus_request: { reference_id: 'q', txn_type: 'subscribe', attribute_type: 'correlation_id', attribute_value: id },
      },
    }
    const answer = await post(`${server.url}/civil/v1.0.0/registry/sync/txn/status`, question, bearer(nowhere))
    expect(answer.body.message.txnstatus_response.txn_status.subscribe_response).toMatchObject([
      {
        status: 'rjct',
        status_reason_code: 'rjct.notify_details.invalid',
        status_reason_message:
          'there is no address for notifications: send a sender_uri, or let the operator of this registry set one',
      },
    ])
    const none = await pool.query('select from subscription where correlation_id = $1', [id])
    expect(none.rowCount).toBe(0)
  })
})
