import { callbackEnvelope, EnrolledResponse, kindNamed, operation, validator } from '@rollcall/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { beneficiary, enrolment } from '../../../../core/test/beneficiaries.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { expectFault } from '../../expectations.ts'
import { ask, askingOf } from '../../person-questions.ts'
import { encrypted, opened, publishedKey, sealingPeer, signedBody } from '../../sealing.ts'
import { type Answer, bearer, post, testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const peer = await server.participant('spmis.demo')

const in100Seconds = new Date(server.clock.date() + 100_000).toISOString()
const ENDED = { end_date: '2021-01-01' }
await server.registry('ibr', [
  beneficiary('HS-89', enrolment('PRG-7'), { identifier_type: 'NID', identifier_value: 'N-300' }),
  beneficiary('HS-90', [enrolment('PRG-7', { enrolment_status: '4' }), enrolment('PRG-8')]),
  beneficiary('HS-91', [enrolment('PRG-7', ENDED), enrolment('PRG-8', { enrolment_date: '2999-01-01' })]),
  beneficiary('HS-92', [], { identifier_type: 'NID', identifier_value: 'N-TWICE' }),
  beneficiary('HS-93', [], { identifier_type: 'NID', identifier_value: 'N-TWICE' }),
  beneficiary('HS-99', enrolment('PRG-7'), { identifier_type: 'NID', identifier_value: 'N-TWICE' }),
  beneficiary('HS-95', enrolment('PRG-7', { enrolment_date: in100Seconds })),
  // The number of one person is the member identifier of another.
  beneficiary('HS-94', enrolment('PRG-9'), { identifier_type: 'NID', identifier_value: 'HS-92' }),
])
const member = (uin: string, more: object) => ({
  '@type': 'spdci:member',
  member_identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  ...more,
})
await server.registry('ess', [
  member('4100', { enrolment_status: '1' }),
  member('4101', { additional_attributes: [{ enrolment_status: 'awaiting_renewal' }] }),
  member('4102', { enrolment_status: 'Inactive' }),
  member('4103', {}),
  member('4104', { enrolment_status: 'On leave' }),
])

const IBR = { operation: 'enrolled', namespace: 'ibr' } as const
const ESS = { operation: 'enrolment-status', namespace: 'ess' } as const
const envelopes = validator(callbackEnvelope(EnrolledResponse, 'EnrolledResponseEnvelope'))

/** The one item of an answer that has the documented shape. */
function itemOf({ status, body }: Answer) {
  expect(status).toBe(200)
  expect(envelopes.problem(body, 'body')).toBeNull()
  expect(body.message.enrolled_response).toHaveLength(1)
  return body.message.enrolled_response[0]
}

const enrolled = async (query: unknown, more: object = {}) =>
  itemOf(await ask(server, peer, IBR, { query_type: 'expression', query, ...more }))
const eq = (value: unknown) => ({ eq: value })
const PROGRAMME = 'programme_identifier.programme.programme_identifier'

describe('enrolled', () => {
  it('answers in the envelope, and the same beside it for who reads the bare message', async () => {
    const criteria = { query_type: 'expression', query: { person_identifier: eq('HS-89') } }
    const { body } = await ask(server, peer, IBR, criteria)
    const { header, message, signature, ...beside } = body
    expect(header).toMatchObject({ action: 'on-search', status: 'succ', total_count: 1, completed_count: 1 })
    expect(message).toEqual({
      transaction_id: 'tx-14',
      correlation_id: expect.any(String),
      enrolled_response: [
        { reference_id: 'HS-89', timestamp: expect.stringMatching(/Z$/), status: 'succ', enrolled_status: 'yes' },
      ],
    })
    expect(signature).toEqual(expect.any(String))
    expect(beside).toEqual(message)
  })

  it.each([
    ['as the specification has it', { person_identifier: eq('HS-89'), [PROGRAMME]: eq('PRG-7') }],
    ['dotted with program', { person_identifier: eq('HS-89'), 'programme_identifier.program.programme_identifier': eq('PRG-7') }],
    ['without a programme', { person_identifier: eq('HS-89') }],
    ['spelled out', { attribute_name: 'person_identifier', operator: 'eq', attribute_value: 'HS-89' }],
    ['by the member identifier', { member_identifier: { $eq: 'HS-89' }, programme_identifier: eq('prg-7') }],
    ['by another identifier', { person_identifier: eq('N-300') }],
    ['by its type', { NID: eq('n-300') }],
    ['by type and value', { type: 'NID', value: 'N-300' }],
    ['by members of an identifier', { identifier_type: 'UIN', identifier_value: 'HS-89' }],
    ['with one value of in', { person_identifier: { in: ['HS-89'] } }],
    [
      'as an expression list',
      [
        {
          seq_num: 1,
          expression1: { attribute_name: 'person_identifier', operator: 'eq', attribute_value: 'HS-89' },
          condition: 'and',
          expression2: { attribute_name: PROGRAMME, operator: 'eq', attribute_value: 'PRG-7' },
        },
      ],
    ],
    ['as a text', '{"person_identifier":{"eq":"HS-89"}}'],
  ])('reads the query %s', async (_, query) => {
    const { enrolled_status, reference_id } = await enrolled(query)
    expect(enrolled_status).toBe('yes')
    expect(['HS-89', 'N-300', 'n-300']).toContain(reference_id)
  })

  it.each([
    ['HS-90', 'PRG-7', 'no'],
    ['HS-90', 'PRG-8', 'yes'],
    ['HS-90', undefined, 'yes'],
    ['HS-90', 'PRG-9', 'no'],
    ['HS-91', 'PRG-7', 'no'],
    ['HS-91', 'PRG-8', 'no'],
    ['HS-91', undefined, 'no'],
    ['HS-92', undefined, 'no'],
  ])('of %s in %s is %s: only what is active, with dates that include now', async (person, programme, expected) => {
    const query = { person_identifier: eq(person), ...(programme && { programme_identifier: eq(programme) }) }
    expect((await enrolled(query)).enrolled_status).toBe(expected)
  })

  it('asks the clock', async () => {
    const query = { person_identifier: eq('HS-95') }
    expect((await enrolled(query)).enrolled_status).toBe('no')
    server.clock.pass(120_000)
    expect((await enrolled(query)).enrolled_status).toBe('yes')
  })

  it('answers alike about somebody unknown and somebody who is not enrolled', async () => {
    const said = async (person: string) => {
      const { reference_id, timestamp, ...rest } = await enrolled({ person_identifier: eq(person) })
      expect([reference_id, typeof timestamp]).toEqual([person, 'string'])
      return rest
    }
    expect(await said('HS-00')).toEqual({ status: 'succ', enrolled_status: 'no' })
    expect(await said('HS-92')).toEqual(await said('HS-00'))
  })

  it('takes the member identifier before any other', async () => {
    expect((await enrolled({ person_identifier: eq('HS-92') })).enrolled_status).toBe('no')
    expect((await enrolled({ NID: eq('HS-92') })).enrolled_status).toBe('yes')
  })

  it('finds the one of several people with an identifier that may be found', async () => {
    const only = { UIN: eq('HS-99') }
    const rows = Object.fromEntries(kindNamed('ibr')?.record_types.map(({ name }) => [name, only]) ?? [])
    await grant(server.database, peer.sender_id, 'ibr', { rows })
    server.clock.pass(1_000)
    expect(await enrolled({ person_identifier: eq('N-TWICE') })).toMatchObject({ enrolled_status: 'yes' })
    await grant(server.database, peer.sender_id, 'ibr', {})
    server.clock.pass(1_000)
  })

  it('rejects an identifier that several people have', async () => {
    expect(await enrolled({ person_identifier: eq('N-TWICE') })).toEqual({
      reference_id: 'N-TWICE',
      timestamp: expect.any(String),
      status: 'rjct',
      status_reason_message: 'enrolled_criteria.query: the identifier names more than one person; ask with a UIN',
    })
  })

  it('names nothing that is not granted', async () => {
    try {
      await grant(server.database, peer.sender_id, 'ibr', { identifier_types: ['NID'], ask: [] })
      server.clock.pass(1_000)
      const { status_reason_message: several } = await enrolled({ person_identifier: eq('N-TWICE') })
      expect(several).toBe('enrolled_criteria.query: the identifier names more than one person')
      const { status_reason_message: unknown } = await enrolled({ type: 'SHOE', value: '1' })
      expect(unknown).toMatch(/must be one of NID$/)
      for (const query of [{ UIN: eq('HS-89') }, { sex: eq('F') }]) {
        const rejected = await enrolled({ ...query, [PROGRAMME]: eq('PRG-7') })
        expect(rejected.status).toBe('rjct')
        expect(rejected.status_reason_message.replace(/UIN|sex/, '')).not.toMatch(/UIN|birth_date|surname/)
      }
      const query = { person_identifier: eq('N-300'), [PROGRAMME]: eq('PRG-7') }
      expect((await enrolled(query)).enrolled_status).toBe('yes')
    } finally {
      await grant(server.database, peer.sender_id, 'ibr', {})
      server.clock.pass(1_000)
    }
  })

  const ONE =
    'enrolled_criteria.query: must name one person by one identifier with eq, and may name one programme by programme_identifier, and nothing else'
  it.each([
    ['no person', { [PROGRAMME]: eq('PRG-7') }, ONE],
    ['two people', { person_identifier: { in: ['HS-89', 'HS-90'] } }, ONE],
    ['everybody', { person_identifier: { exists: true } }, ONE],
    ['all but one', { person_identifier: { ne: 'HS-89' } }, ONE],
    ['two programmes', { person_identifier: eq('HS-89'), programme_identifier: { in: ['A', 'B'] } }, ONE],
    ['another condition', { person_identifier: eq('HS-89'), sex: eq('F') }, ONE],
    ['either of two', { $or: [{ person_identifier: eq('HS-89') }, { sex: eq('F') }] }, ONE],
    ['nobody', { person_identifier: eq('') }, /^enrolled_criteria\.query\.person_identifier\.eq: must be a string/],
    [
      'an unknown attribute',
      { shoe_size: eq(9) },
      /^enrolled_criteria\.query\.shoe_size: is no attribute that this participant may ask about; those of Member are/,
    ],
    ['an unknown operator', { person_identifier: { near: 'HS-89' } }, /^enrolled_criteria\.query\.person_identifier/],
    ['no condition', {}, /^enrolled_criteria\.query/],
    ['no conditions', [], /^enrolled_criteria\.query: must be an array of \{expression1/],
    ['a number', 7, /^enrolled_criteria\.query: must be an object or an array/],
    ['a text that is none', 'HS-89', 'enrolled_criteria.query: must be GraphQL or JSON text'],
    ['graphql, with a selection', '{ member(UIN: {eq: "HS-89"}) { UIN } }', /^enrolled_criteria\.query/],
  ])('rejects a query of %s', async (_, query, message) => {
    const { status, status_reason_message, ...rest } = await enrolled(query)
    expect(status).toBe('rjct')
    expect(status_reason_message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
    expect(rest).toEqual({ reference_id: '0', timestamp: expect.any(String) })
    expect(status_reason_message).not.toContain('HS-89')
  })

  it.each([
    ['an unknown member', { until: '2026' }, /^enrolled_criteria\.until: is not known; known are version/],
    ['a filter beside it', { filter: { sex: 'F' } }, /^enrolled_criteria\.filter: is not read/],
    ['another entity', { response_entity: 'Group' }, 'enrolled_criteria.response_entity: must be one of Member'],
    ['another registry', { reg_type: 'ns:org:RegistryType:Civil' }, /^enrolled_criteria\.reg_type: this registry is/],
    ['an unknown query_type', { query_type: 'sql' }, /^enrolled_criteria\.query_type: must be one of/],
  ])('rejects criteria with %s', async (_, more, message) => {
    const { status, status_reason_message } = await enrolled({ person_identifier: eq('HS-89') }, more)
    expect(status).toBe('rjct')
    expect(status_reason_message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })

  it('says in the header that the question was rejected', async () => {
    const { body } = await ask(server, peer, IBR, { query: {} })
    expect(body.header).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.errors.too_many' })
  })

  it.each([
    ['no criteria', undefined, 'message.enrolled_criteria: is required'],
    ['criteria that are a text', 'HS-89', 'message.enrolled_criteria: must be an object'],
    ['no query', { query_type: 'expression' }, 'message.enrolled_criteria.query: is required'],
  ])('refuses a message with %s', async (_, criteria, message) => {
    expectFault(await ask(server, peer, IBR, criteria), 400, 'err.request.bad', message)
  })

  it('has no bare members beside an encrypted message, nor a text that names the person', async () => {
    const sealing = await sealingPeer(server, 'sealing.demo', { decrypts: 'RSA' })
    const { query } = { query: { person_identifier: eq('HS-89') } }
    const plain = askingOf(sealing, 'search', { enrolled_criteria: { query } })
    const body = signedBody(sealing, encrypted(plain, await publishedKey(server, 'RSA-OAEP-256')))
    const answer = await post(`${server.url}/ibr/v1.0.0/registry/sync/enrolled`, body, bearer(sealing))
    expect(Object.keys(answer.body).toSorted()).toEqual(['header', 'message', 'signature'])
    expect(JSON.stringify(answer.body)).not.toContain('HS-89')
    expect(opened(answer, sealing)).toMatchObject({ enrolled_response: [{ enrolled_status: 'yes' }] })
  })
})

describe('enrolment-status', () => {
  const statusOf = async (person: unknown) =>
    itemOf(await ask(server, peer, ESS, { query_type: 'expression', query: { person_identifier: eq(person) } }))

  it('answers with the action txn-on-status, and not bare', async () => {
    const criteria = { query_type: 'expression', response_entity: 'Member', query: { person_identifier: eq(4100) } }
    const { body } = await ask(server, peer, ESS, criteria)
    expect(Object.keys(body).toSorted()).toEqual(['header', 'message', 'signature'])
    expect(body.header).toMatchObject({ action: 'txn-on-status', status: 'succ', total_count: 1 })
    expect(body.message.enrolled_response).toEqual([
      { reference_id: '4100', timestamp: expect.any(String), status: 'succ', enrolled_status: 'Active' },
    ])
  })

  it('has the label of the list; a status that is not on it, as the record has it', async () => {
    expect((await statusOf('4101')).enrolled_status).toBe('Awaiting Renewal')
    expect((await statusOf('4104')).enrolled_status).toBe('On leave')
  })

  it('answers alike about somebody unknown, somebody without a status and somebody inactive', async () => {
    for (const person of ['9999', '4103', '4102']) {
      expect(await statusOf(person)).toEqual({
        reference_id: person,
        timestamp: expect.any(String),
        status: 'succ',
        enrolled_status: 'Inactive',
        status_reason_message: 'person not enrolled',
      })
    }
  })

  it('knows no programmes', async () => {
    const query = { person_identifier: eq('4100'), programme_identifier: eq('PRG-7') }
    const { status, status_reason_message } = itemOf(await ask(server, peer, ESS, { query }))
    expect(status).toBe('rjct')
    expect(status_reason_message).toMatch(
      /^enrolled_criteria\.query\.programme_identifier: is no attribute that this participant may ask about/,
    )
  })
})

describe('every spelling', () => {
  it.each([IBR, ESS])('of the path and the action of $operation', async (asking) => {
    const { sync_paths, action, action_aliases } = operation(asking.operation)
    const person = asking === IBR ? 'HS-89' : '4100'
    const criteria = { query: { person_identifier: eq(person) } }
    const asked = [
      ...sync_paths.map((path) => ({ ...asking, path })),
      ...[action, ...action_aliases].map((one) => ({ ...asking, action: one })),
    ]
    for (const one of asked) {
      expect(itemOf(await ask(server, peer, one, criteria)).enrolled_status).toBe(asking === IBR ? 'yes' : 'Active')
    }
  })
})
