/** Enrolments and disabilities: what the client sends, and what it makes of the answers. */
import { describe, expect, it } from 'vitest'
import { keyPair } from '../../core/test/key-pairs.ts'
import { ItemRejected, TransportError } from '../src/index.ts'
import type { Asked, Respond } from './loopback.ts'
import { dropping, refusing } from './loopback.ts'
import { client, failure, registry } from './world.ts'

const ENCRYPTION_KEY = { ...keyPair('X25519').jwk, kid: 'ibr-enc', alg: 'ECDH-ES+A256KW' }
const NOW = '2026-02-03T09:15:00.000Z'

/** Answers with this message, in the envelope of an answer. */
const saying =
  (message: (asked: Asked['body']) => object, header: object = {}): Respond =>
  ({ body }) => ({
    header: {
      version: '1.0.0',
      message_id: 'm-answer',
      message_ts: NOW,
      action: body.header.action,
      status: 'succ',
      sender_id: 'ibr.example',
      receiver_id: body.header.sender_id,
      total_count: 1,
      ...header,
    },
    message: { transaction_id: body.message.transaction_id, correlation_id: 'c-1', ...message(body.message) },
  })

const item = (members: object) => ({ reference_id: '0012', timestamp: NOW, status: 'succ', ...members })
const enrolledAs = (members: object, header: object = {}) => saying(() => ({ enrolled_response: [item(members)] }), header)
const disabledAs = (members: object) => saying(() => ({ disabled_response: [item(members)] }))
const records = (...reg_records: object[]) => saying(() => ({ search_response: [item({ data: { reg_records } })] }))

/** Takes every beneficiary but those without a member. */
const taking = saying(({ enrolled_updates: { beneficiaries } }) => ({
  enrolled_response: beneficiaries.map(({ member }: { member?: { member_identifier: string } }, at: number) =>
    member === undefined
      ? item({ reference_id: String(at), status: 'rjct', status_reason_message: 'beneficiary: no identifier' })
      : item({ reference_id: member.member_identifier }),
  ),
}))

const beneficiary = (number: number) => ({ '@type': 'Beneficiary', member: { member_identifier: `U-${number}` } })

describe('updates', () => {
  it('are sent as the specification says, and each beneficiary has its result', async () => {
    const asking = await client([taking])
    const updates = await asking.updateEnrolments([beneficiary(1), {}], { receipt_type: 'enrollement' })
    const { transaction_id } = registry.asked[0]?.body.message ?? {}
    const receipt = { transaction_id, correlation_id: 'c-1' }
    expect(updates).toEqual([
      { index: 0, reference_id: 'U-1', ok: true, message: null, ...receipt },
      { index: 1, reference_id: '1', ok: false, message: 'beneficiary: no identifier', ...receipt },
    ])
    expect(registry.asked.map(({ body }) => [body.header.action, body.message.enrolled_updates])).toEqual([
      ['notify', { receipt_type: 'enrollement', beneficiaries: [beneficiary(1), {}] }],
    ])
  })

  it('go in messages of 100, one after the other', async () => {
    const asking = await client([taking])
    const updates = await asking.updateEnrolments(Array.from({ length: 201 }, (_, at) => beneficiary(at)))
    expect(updates.map(({ index, reference_id }) => `${index} ${reference_id}`)).toEqual(
      Array.from({ length: 201 }, (_, at) => `${at} U-${at}`),
    )
    const sizes = registry.asked.map(({ body }) => body.message.enrolled_updates.beneficiaries.length)
    expect(sizes).toEqual([100, 100, 1])
    expect(new Set(registry.asked.map(({ body }) => body.message.transaction_id)).size).toBe(3)
  })

  it('may be one beneficiary, or smaller messages of one transaction', async () => {
    const asking = await client([taking])
    expect(await asking.updateEnrolments(beneficiary(1))).toHaveLength(1)
    const options = { batch_size: 1, transaction_id: 'case-1' }
    expect(await asking.updateEnrolments([beneficiary(1), beneficiary(2)], options)).toMatchObject([
      { index: 0, transaction_id: 'case-1' },
      { index: 1, transaction_id: 'case-1' },
    ])
  })

  it('without a beneficiary are for the registry to refuse', async () => {
    const asking = await client([refusing(400, 'err.request.bad')])
    expect(await failure(asking.updateEnrolments([]))).toMatchObject({ code: 'err.request.bad' })
  })

  it('are sent again under the same message_id when the connection breaks', async () => {
    const asking = await client([dropping, taking])
    expect(await asking.updateEnrolments(beneficiary(1))).toMatchObject([{ ok: true }])
    expect(new Set(registry.asked.map(({ body }) => body.header.message_id)).size).toBe(1)
  })

  it('have at least one beneficiary in each message', async () => {
    const asking = await client([taking])
    expect(await failure(asking.updateEnrolments([beneficiary(1)], { batch_size: 0 }))).toEqual(
      new TypeError('batch_size must be a whole number from 1'),
    )
    expect(registry.asked).toEqual([])
  })

  it('must be answered for as many as were sent', async () => {
    const asking = await client([enrolledAs({})])
    expect(await failure(asking.updateEnrolments([beneficiary(1), beneficiary(2)]))).toEqual(
      new TransportError('unreadable', 'the answer has 1 results for 2 beneficiaries'),
    )
  })
})

describe('enrolled', () => {
  it.each([
    ['yes', true],
    ['no', false],
  ])('%s is %s', async (enrolled_status, expected) => {
    const asking = await client([enrolledAs({ enrolled_status })])
    expect(await asking.enrolled({ person: '0012', programme: 'PRG-07' })).toBe(expected)
    expect(registry.asked[0]?.body.message.enrolled_criteria).toEqual({
      query_type: 'expression',
      response_entity: 'Member',
      query: { person_identifier: { eq: '0012' }, 'programme_identifier.programme.programme_identifier': { eq: 'PRG-07' } },
    })
  })

  it('may name the type of the identifier', async () => {
    const asking = await client([enrolledAs({ enrolled_status: 'yes' })])
    await asking.enrolled({ person: '77', identifier_type: 'NID' })
    expect(registry.asked[0]?.body.message.enrolled_criteria.query).toEqual({ NID: { eq: '77' } })
  })

  it.each([
    [{ enrolled_status: 'Active' }, 'enrolled_status must be yes or no'],
    [{}, 'enrolled_status must be yes or no'],
  ])('%j is neither a yes nor a no', async (members, message) => {
    const asking = await client([enrolledAs(members)])
    expect(await failure(asking.enrolled({ person: '0012' }))).toEqual(new TransportError('unreadable', message))
  })

  it('that is rejected is no answer', async () => {
    const rejected = { status: 'rjct', status_reason_message: 'query: must be an object' }
    const asking = await client([enrolledAs(rejected, { status: 'rjct' })])
    expect(await failure(asking.enrolled({ person: '0012' }))).toEqual(new ItemRejected('0012', '', 'query: must be an object'))
  })

  it('has one answer', async () => {
    const asking = await client([saying(() => ({ enrolled_response: [] }))])
    expect(await failure(asking.enrolled({ person: '0012' }))).toEqual(
      new TransportError('unreadable', 'the answer must have one item'),
    )
  })
})

describe('an answer without envelope', () => {
  const bare: Respond = ({ body }) => ({
    transaction_id: body.message.transaction_id,
    correlation_id: 'c-1',
    enrolled_response: [item({ enrolled_status: 'yes' })],
  })

  it('is read where the registry need not sign', async () => {
    expect(await (await client([bare])).enrolled({ person: '0012' })).toBe(true)
    expect(await (await client([bare])).updateEnrolments(beneficiary(1))).toMatchObject([{ ok: true }])
  })

  it.each([
    ['must sign', { peer: { signature: 'required' } as const }],
    ['must encrypt', { encryption: { keys: [], encrypt_for: ENCRYPTION_KEY } }],
  ])('is refused where the registry %s', async (_name, options) => {
    const asking = await client([bare], options)
    expect(await failure(asking.enrolled({ person: '0012' }))).toEqual(
      new TransportError('unreadable', 'header: must be an object', { httpStatus: 200 }),
    )
  })

  it('is refused where it belongs to another transaction, and for other operations', async () => {
    const other: Respond = (asked, response) => ({ ...bare(asked, response), transaction_id: 'tx-other' })
    expect(await failure((await client([other])).enrolled({ person: '0012' }))).toMatchObject({ name: 'UntrustedAnswer' })
    expect(await failure((await client([bare])).checkEnrolment('0012'))).toMatchObject({ reason: 'unreadable' })
  })
})

describe('the check of an employment support system', () => {
  it('gives its label', async () => {
    const asking = await client([enrolledAs({ enrolled_status: 'Awaiting Renewal' })])
    expect(await asking.checkEnrolment('4100')).toBe('Awaiting Renewal')
    const [{ body } = { body: {} }] = registry.asked
    expect([body.header.action, body.message.enrolled_criteria.query]).toEqual([
      'enrollementstatus',
      { person_identifier: { eq: '4100' } },
    ])
  })

  it('without a label is no answer', async () => {
    const asking = await client([enrolledAs({})])
    expect(await failure(asking.checkEnrolment('4100'))).toEqual(
      new TransportError('unreadable', 'the answer has no enrolled_status'),
    )
  })
})

describe('a disability registry', () => {
  it.each([
    ['yes', true],
    ['no', false],
  ])('says %s: %s', async (disabled_status, expected) => {
    const asking = await client([disabledAs({ disabled_status })])
    expect(await asking.disabled('PX-1')).toBe(expected)
    expect(registry.asked[0]?.body.message.disabled_criteria.query).toEqual({
      'personal_details.member_identifier': { eq: 'PX-1' },
    })
  })

  it('gives details and support', async () => {
    const details = { impairment_type: '1' }
    const support = { assistive_technology: ['3'] }
    const asking = await client([records(details), records(support), records()])
    expect(await asking.disabilityDetails('PX-1')).toEqual([details])
    expect(await asking.disabilitySupport('PX-1')).toEqual([support])
    expect(await asking.disabilityDetails('PX-2')).toEqual([])
  })

  it('that has not searched yet has not said that there is nothing', async () => {
    const asking = await client([saying(() => ({ search_response: [item({ status: 'pdng' })] }))])
    const error = new TransportError('unreadable', 'the registry has not searched yet: the status is pdng')
    expect(await failure(asking.disabilityDetails('PX-1'))).toEqual(error)
    expect(await failure(asking.disabilitySupport('PX-1'))).toEqual(error)
  })
})
