import type { GrantTerms } from '@rollcall/core/model/grant'
import { callbackEnvelope, DisabledResponse, operation, SearchResponse, validator } from '@rollcall/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { grant } from '../../../../participants/test/grants.ts'
import { expectFault } from '../../expectations.ts'
import { ask } from '../../person-questions.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const peer = await server.participant('spmis.demo')

const details = [
  { impairment_type: '1', impairment_level: '3', impairment_cause: '2', age_on_set: '2' },
  { impairment_type: 'hearing', impairment_level: 'mild' },
]
const support = [{ human_assistance: { type: 'mobility', frequency: '2', support_status: '1' } }]
const person = (uin: string, more: object) => ({
  '@type': 'DisabledPerson',
  personal_details: { member_identifier: uin, name: { first_name: 'Tess', last_name: 'Moor' } },
  ...more,
})
await server.registry('disability', [
  person('PX-1', { disability_status: 'Approved', disability_details: details, disability_support: support[0] }),
  person('PX-3', { disability_status: 'pending', disability_details: [] }),
  person('PX-4', { disability_status: '2' }),
  person('PX-5', { disability_status: 'refused' }),
  person('PX-6', {}),
])

const DISABLED = { operation: 'disabled', namespace: 'disability' } as const
const DETAILS = { operation: 'disability-details', namespace: 'disability' } as const
const SUPPORT = { operation: 'disability-support', namespace: 'disability' } as const
const about = (uin: unknown) => ({ query_type: 'expression', query: { 'personal_details.member_identifier': { eq: uin } } })
const answersOf = (schema: typeof DisabledResponse | typeof SearchResponse) => validator(callbackEnvelope(schema, 'Envelope'))
const disabledAnswers = answersOf(DisabledResponse)
const searchAnswers = answersOf(SearchResponse)

describe('disabled', () => {
  const disabled = async (criteria: object) => {
    const { body } = await ask(server, peer, DISABLED, criteria)
    expect(disabledAnswers.problem(body, 'body')).toBeNull()
    return body.message.disabled_response[0]
  }

  it.each([
    ['PX-1', 'yes'],
    ['PX-6', 'yes'],
    ['px-1', 'yes'],
    ['PX-2', 'no'],
    ['PX-3', 'no'],
    ['PX-4', 'no'],
    ['PX-5', 'no'],
  ])('of %s is %s: a registration that is not approved is none', async (uin, disabled_status) => {
    expect(await disabled(about(uin))).toEqual({
      reference_id: uin,
      timestamp: expect.any(String),
      status: 'succ',
      disabled_status,
    })
  })

  it('answers in the envelope alone', async () => {
    const { body } = await ask(server, peer, DISABLED, about('PX-1'))
    expect(Object.keys(body).toSorted()).toEqual(['header', 'message', 'signature'])
    expect(body.header).toMatchObject({ action: 'on-search', status: 'succ', total_count: 1 })
  })

  it.each([
    ['member_identifier', { member_identifier: { eq: 'PX-1' } }],
    ['UIN', { UIN: { eq: 'PX-1' } }],
    ['the path of another published example', { 'member.member_identifier': { eq: 'PX-1' } }],
    ['attribute_name', { attribute_name: 'personal_details.member_identifier', operator: 'eq', attribute_value: 'PX-1' }],
  ])('asks by %s', async (_, query) => {
    expect(await disabled({ query })).toMatchObject({ reference_id: 'PX-1', disabled_status: 'yes' })
  })

  it.each([
    ['no person', { disability_level: { eq: 'severe' } }],
    ['a programme', { UIN: { eq: 'PX-1' }, 'programs_enrollments.programme_identifier': { eq: 'P' } }],
  ])('rejects a query of %s', async (_, query) => {
    expect(await disabled({ query })).toEqual({
      reference_id: '0',
      timestamp: expect.any(String),
      status: 'rjct',
      status_reason_message: 'disabled_criteria.query: must name one person by one identifier with eq, and nothing else',
    })
  })

  it.each(['REGISTER', 'ns:RegistryEventType:register', 'search'])(
    'takes the event type %s, which filters nothing',
    async (reg_event_type) => {
      expect(await disabled({ ...about('PX-1'), reg_event_type })).toMatchObject({ disabled_status: 'yes' })
    },
  )

  it.each<[object, string]>([
    [{ reg_event_type: 'LiveBirth' }, 'reg_event_type: must be one of REGISTER, SEARCH'],
    [{ reg_event_types: 'REGISTER' }, 'reg_event_types: is not known; reg_event_type may be meant'],
  ])('rejects %j', async (more, rule) => {
    expect(await disabled({ ...about('PX-1'), ...more })).toMatchObject({
      status: 'rjct',
      status_reason_message: `disabled_criteria.${rule}`,
    })
  })

  it('refuses a message without criteria', async () => {
    expectFault(await ask(server, peer, DISABLED, undefined), 400, 'err.request.bad', 'message.disabled_criteria: is required')
  })
})

describe('details and support', () => {
  const found = async (asking: typeof DETAILS | typeof SUPPORT, criteria: object) => {
    const { body } = await ask(server, peer, asking, criteria)
    expect(searchAnswers.problem(body, 'body')).toBeNull()
    return body.message.search_response[0]
  }

  it('are parts of the record, each as it is stored', async () => {
    expect(await found(DETAILS, about('PX-1'))).toEqual({
      reference_id: 'PX-1',
      timestamp: expect.any(String),
      status: 'succ',
      data: { version: '1.0.0', reg_type: 'ns:org:RegistryType:DR', reg_record_type: 'DisabledPerson', reg_records: details },
      pagination: { page_size: 2, page_number: 1, total_count: 2 },
    })
    expect((await found(SUPPORT, about('PX-1'))).data.reg_records).toEqual(support)
  })

  it('are none of somebody unknown, and of somebody who has none', async () => {
    for (const asking of [DETAILS, SUPPORT]) {
      for (const uin of ['PX-2', 'PX-3']) {
        const { data, pagination, status } = await found(asking, about(uin))
        expect([status, data.reg_records, pagination.total_count]).toEqual(['succ', [], 0])
      }
    }
  })

  it('say with a code why they are rejected', async () => {
    expect(await found(DETAILS, { query: { shoe_size: { eq: 9 } } })).toMatchObject({
      reference_id: '0',
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: expect.stringMatching(
        /^disabled_criteria\.query\.shoe_size: is no attribute that this participant may ask about/,
      ),
    })
  })
})

it('every path and every action of the three is answered', async () => {
  for (const asking of [DISABLED, DETAILS, SUPPORT]) {
    const { sync_paths, action, action_aliases } = operation(asking.operation)
    for (const path of sync_paths) {
      for (const one of [action, ...action_aliases]) {
        const { body } = await ask(server, peer, { ...asking, path, action: one }, about('PX-1'))
        expect(body.header).toMatchObject({ action: 'on-search', status: 'succ' })
      }
    }
  }
})

describe('a daily quota of a grant', () => {
  const quotas = async (terms: Partial<GrantTerms>) => {
    await grant(server.database, peer.sender_id, 'disability', terms)
    server.clock.pass(1_000)
  }
  const answers = async (asking: typeof DISABLED | typeof DETAILS, uin = 'PX-1') => {
    const { message } = (await ask(server, peer, asking, about(uin))).body
    const [answer] = message.disabled_response ?? message.search_response
    return [answer.status, answer.status_reason_message]
  }
  const usedUp = (what: string) => [
    'rjct',
    expect.stringContaining(
      `disabled_criteria: the daily quota of ${what} that is granted to this participant is used up; it is free again from `,
    ),
  ]

  it('counts questions about a person', async () => {
    await quotas({ items_per_day: 1 })
    expect(await answers(DISABLED)).toEqual(['succ', undefined])
    expect(await answers(DISABLED)).toEqual(usedUp('items'))
  })

  it('counts the parts of a record, and an answer without records as one: a used-up quota does not tell who has details', async () => {
    await quotas({ records_per_day: 3 })
    expect(await answers(DETAILS)).toEqual(['succ', undefined])
    expect(await answers(DETAILS)).toEqual(usedUp('records'))
    expect(await answers(DETAILS, 'PX-2')).toEqual(['succ', undefined])
    for (const uin of ['PX-1', 'PX-2', 'PX-3']) expect(await answers(DETAILS, uin)).toEqual(usedUp('records'))
  })
})
