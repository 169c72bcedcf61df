/** Enrolment updates over HTTP: what they write, and how each beneficiary is answered. */

import { describe, expect, it } from 'vitest'
import { grant } from '../../../../participants/test/grants.ts'
import { beneficiary, enrolment, enrolmentServer, updatesMessage } from '../../enrolment-updates.ts'
import { expectFault } from '../../expectations.ts'

const { server, sp, registry, send, update, found, enrolled } = await enrolmentServer()

const succ = (reference_id: string, said?: string) => ({
  reference_id,
  timestamp: expect.any(String),
  status: 'succ',
  ...(said !== undefined && { status_reason_message: said }),
})
const rjct = (reference_id: string, status_reason_message: string) => ({
  reference_id,
  timestamp: expect.any(String),
  status: 'rjct',
  status_reason_message,
})
const also = (identifier: unknown) => ({ demographic_info: { person: { identifier } } })
const nid = (value: string) => [{ identifier_type: 'NID', identifier_value: value }]

const programmes = (count: number) => Array.from({ length: count }, (_, at) => enrolment(at))
const objects = (count: number, make: () => object): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, make()]))

describe('an update', () => {
  it('adds a person, whom a search finds at once, and who is enrolled', async () => {
    const person = { identifier_type: 'NID', identifier_value: 'N-1', name: { surname: 'Okoro' } }
    const answer = await update([beneficiary('U-1', undefined, { demographic_info: { person } })])
    expect(answer).toEqual([succ('U-1')])
    const records = await found('UIN', 'U-1')
    expect(records).toEqual([
      {
        '@type': 'Beneficiary',
        member: {
          member_identifier: 'U-1',
          demographic_info: { person: { identifier: nid('N-1'), name: { surname: 'Okoro' } } },
          programme_identifier: {
            programme: { programme_identifier: 'PRG-7' },
            enrolment_status: 'Active',
            status_change_date: '2026-03-01T08:00:00.000Z',
          },
        },
      },
    ])
    expect(await found('NID', 'N-1')).toEqual(records)
    expect(await enrolled('U-1', 'PRG-7')).toBe('yes')
  })

  it('of a second programme joins the first, and a suspension turns one to no', async () => {
    await update([beneficiary('U-2', enrolment('PRG-1'))])
    await update([beneficiary('U-2', enrolment('PRG-0'))])
    expect([await enrolled('U-2', 'PRG-0'), await enrolled('U-2', 'PRG-1')]).toEqual(['yes', 'yes'])
    const suspended = enrolment('PRG-1', { enrolment_status: 'Suspended', status_change_date: '2026-04-01' })
    await update([beneficiary('U-2', suspended)])
    expect([await enrolled('U-2', 'PRG-0'), await enrolled('U-2', 'PRG-1')]).toEqual(['yes', 'no'])
  })

  it('finds a person by any identifier', async () => {
    await update([beneficiary('U-3', undefined, also(nid('N-3')))])
    expect(await update([beneficiary([...nid('N-3')], enrolment('PRG-8'))])).toEqual([succ('N-3')])
    expect(await enrolled('U-3', 'PRG-8')).toBe('yes')
  })

  it('is taken in the order of its message, also where the person is new in it', async () => {
    const answer = await update([
      beneficiary('U-4', enrolment('PRG-1'), { occupation: 'first', ...also(nid('N-4')) }),
      beneficiary(nid('N-4'), enrolment('PRG-1', { enrolment_status: 'Graduated' }), { occupation: 'second' }),
    ])
    expect(answer).toEqual([succ('U-4'), succ('N-4')])
    expect(await found('UIN', 'U-4')).toMatchObject([
      { member: { occupation: 'second', programme_identifier: { enrolment_status: 'Graduated' } } },
    ])
  })

  it('says that a benefit was replaced', async () => {
    const paid = (benefit_value: string) => {
      const benefits = { benefit_type: 'cash', benefit_date: '2026-02-01', benefit_value }
      return [beneficiary('U-5', enrolment('PRG-1', { benefits }))]
    }
    expect(await update(paid('10'))).toEqual([succ('U-5')])
    const replaced = 'benefits: an earlier benefit of the same type and date was replaced'
    expect(await update(paid('20'), { header: { message_ts: '2026-03-02T08:00:00Z' } })).toEqual([succ('U-5', replaced)])
  })

  it('that is repeated changes nothing, and is no event', async () => {
    const body = updatesMessage(sp, [beneficiary('U-6')])
    const rows = async () =>
      (
        await server.database.db.pool.query(
          `select record, xmin, (select count(*) from event) as events from enrolment_ledger order by record`,
        )
      ).rows
    const first = await send(body)
    const before = await rows()
    const second = await send(body)
    expect(second.body.message).toMatchObject({
      correlation_id: first.body.correlation_id,
      enrolled_response: [{ reference_id: 'U-6', status: 'succ' }],
    })
    expect(await rows()).toEqual(before)
  })

  it('is an event of the registry: a new person, another programme, another status', async () => {
    await server.database.db.pool.query('delete from event')
    await update([beneficiary('U-7')])
    await update([beneficiary('U-7', enrolment('PRG-9'))])
    await update([
      beneficiary('U-7', enrolment('PRG-9', { enrolment_status: 4 }), { occupation: 'baker' }),
      beneficiary('U-7', enrolment('PRG-9'), { occupation: 'cook' }),
    ])
    const later = { header: { message_ts: '2026-03-02T08:00:00Z' } }
    await update([beneficiary('U-7', enrolment('PRG-9', { enrolment_status: 4 }))], later)
    const { rows } = await server.database.db.pool.query('select event_type from event order by id')
    expect(rows.map(({ event_type }) => event_type)).toEqual(['enrollement', 'enrollement', 'enrollement_status_change'])
  })

  it.each(['registry/sync/enrollment/updates', 'registry/enrollment/updates', 'registry/sync/enrollments/updates'])(
    'is taken at %s, with the other published names',
    async (path) => {
      const receipt_type = 'spdci-common:RegistryEventType:Enrolment_Status_Change'
      const receipt_information = { receipt_type, beneficiaries: beneficiary('U-8') }
      const message = { enrolled_updates: undefined, receipt_information }
      expect(await update([], { path, message, header: { action: 'register' } })).toEqual([succ('U-8')])
    },
  )

  it('is of the programmes that its participant may write', async () => {
    await grant(server.database, sp.sender_id, 'ibr', { programmes: ['prg 7'] })
    server.clock.pass(1_000)
    const both = [enrolment('PRG 7'), enrolment('PRG 8')]
    expect(await update([beneficiary('U-9', both), beneficiary('U-9', enrolment('PRG 7'))])).toMatchObject([
      {
        status: 'rjct',
        status_reason_message: 'programme.programme_identifier: this programme is not granted to this participant',
      },
      { status: 'succ' },
    ])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
  })
})

describe('a beneficiary is rejected by itself, without a value of it', () => {
  const LONG = 'must not be longer than 1048576 characters'
  const PROGRAMME = 'programme.programme_identifier: must be a text of 1 to 500 characters'
  it.each([
    ['that is no object', 'Okoro', '0', 'beneficiaries: each must be an object'],
    [
      'without an identifier',
      { member: { programme_identifier: enrolment('P') } },
      '0',
      'member.member_identifier: must have an identifier of the person',
    ],
    [
      'with an identifier of a type that nobody knows',
      beneficiary([{ identifier_type: 'SHOE', identifier_value: '44' }]),
      '44',
      'member.member_identifier: must have an identifier of the person',
    ],
    [
      'with two identifiers of which one only may be there',
      beneficiary('U-10', undefined, also('U-11')),
      'U-10',
      'member.member_identifier: must have one UIN only',
    ],
    [
      'that nobody here is, without the identifier that a new person needs',
      beneficiary(nid('N-nobody')),
      'N-nobody',
      'member.member_identifier: the identifiers name nobody here, and a new person needs a UIN',
    ],
    ['without a programme', { member: { member_identifier: 'U-10' } }, 'U-10', 'member.programme_identifier: is required'],
    ['with an empty programme', beneficiary('U-10', enrolment('')), 'U-10', PROGRAMME],
    ['with a programme of 8 MB', beneficiary('U-10', enrolment('x'.repeat(8_000_000))), 'U-10', LONG],
    [
      'with a programme that is no whole number',
      beneficiary('U-10', enrolment(0.5)),
      'U-10',
      'programme.programme_identifier: must be a text, or a whole number',
    ],
    [
      'with a status outside of the list',
      beneficiary('U-10', enrolment('P', { enrolment_status: 'Okoro' })),
      'U-10',
      'enrolment_status: must be one of active, deceased, graduated, suspended',
    ],
    [
      'with a date of a status without the status',
      beneficiary('U-10', { programme: { programme_identifier: 'P' }, status_change_date: '2026-01-01' }),
      'U-10',
      'enrolment_status: is required with status_change_date',
    ],
    [
      'enrolled after the end',
      beneficiary('U-10', enrolment('P', { enrolment_date: '2026-02-01', enrollment_end_date: '2026-01-31' })),
      'U-10',
      'enrolment_end_date: must not be before enrolment_date',
    ],
    ...['enrolment_date', 'enrolment_end_date', 'status_change_date'].map((name): [string, object, string, string] => [
      `whose ${name} is no date`,
      beneficiary('U-10', enrolment('P', { [name]: '31.02.2026' })),
      'U-10',
      `${name}: must be a date`,
    ]),
    [
      'whose benefit has no date',
      beneficiary('U-10', enrolment('P', { benefits: { benefit_date: 20_260_101 } })),
      'U-10',
      'benefits.benefit_date: must be a date',
    ],
    [
      'whose benefit is a text',
      beneficiary('U-10', enrolment('P', { benefits: 'Okoro' })),
      'U-10',
      'benefits: must be an object, or a list of objects',
    ],
    [
      'whose member is a text',
      { ...beneficiary('U-10'), demographic_info: 'Okoro' },
      'U-10',
      'demographic_info: must be an object',
    ],
    ['with a text of 8 MB', beneficiary('U-10', undefined, { occupation: 'x'.repeat(8_000_000) }), 'U-10', LONG],
    ['that is known by too long an identifier', beneficiary('x'.repeat(8_000_000)), 'x'.repeat(99), LONG],
    ['of another type', { ...beneficiary('U-10'), '@type': 'Farmer' }, 'U-10', '@type: must be Beneficiary'],
    [
      'with several programmes in one enrolment',
      beneficiary('U-10', { programme: [{ programme_identifier: 'P' }, { programme_identifier: 'Q' }] }),
      'U-10',
      'programme: must be one programme; each has an enrolment of its own',
    ],
    ...[
      enrolment('P', { enrolment_date: '2026-02-01', end_date: '2026-01-31' }),
      { programme: { programme_identifier: 'P', end_date: '2026-01-31' }, enrolment_date: '2026-02-01' },
    ].map((given, at): [string, object, string, string] => [
      `whose end_date is before the beginning (${at})`,
      beneficiary('U-10', given),
      'U-10',
      'enrolment_end_date: must not be before enrolment_date',
    ]),
    [
      'with more enrolments than one update may have',
      beneficiary('U-10', programmes(201)),
      'U-10',
      'member.programme_identifier: must have at most 200 enrolments',
    ],
    [
      'with more benefits than one update may write',
      beneficiary('U-10', programmes(200), { benefits: Array.from({ length: 51 }, () => ({ benefit_type: 'cash' })) }),
      'U-10',
      'benefits: must be at most 10000, counted for each enrolment that they apply to',
    ],
    [
      'of so many members that their history would be too long',
      beneficiary('U-10', undefined, { notes: objects(45, () => objects(900, () => ({ a: 1 }))) }),
      'U-10',
      'the history of the record would be longer than 1048576 characters',
    ],
  ])('%s', async (_, given, reference_id, text) => {
    expect(await update([given])).toEqual([rjct(reference_id, text)])
    expect(await found('UIN', 'U-10')).toEqual([])
  })

  it('one whose identifiers name two people is attached to neither', async () => {
    const people = [beneficiary('U-20', undefined, also(nid('N-20'))), beneficiary('U-21', undefined, also(nid('N-21')))]
    await update(people)
    const both = [...nid('N-20'), ...nid('N-21')]
    expect(
      await update([
        beneficiary(both, enrolment('P-2')),
        beneficiary('U-22', enrolment('P-2'), also(nid('N-21'))),
        beneficiary('U-20', enrolment('P-3')),
      ]),
    ).toEqual([
      rjct('N-20', 'member.member_identifier: the identifiers name more than one person'),
      rjct('U-22', 'member.member_identifier: the person that another identifier names has another UIN'),
      succ('U-20'),
    ])
    expect([await enrolled('U-20', 'P-2'), await enrolled('U-21', 'P-2'), await enrolled('U-20', 'P-3')]).toEqual([
      ...['no', 'no', 'yes'],
    ])
  })

  it('one that would add a programme to a person who has 200', async () => {
    const answer = await update([beneficiary('U-24', programmes(200)), beneficiary('U-24', enrolment('P'))])
    expect(answer).toEqual([succ('U-24'), rjct('U-24', 'the record would have more than 200 programmes')])
  })

  it('the header says how many', async () => {
    const { body } = await send(updatesMessage(sp, [beneficiary('U-23'), {}]))
    expect(body.header).toMatchObject({
      action: 'notify',
      status: 'succ',
      total_count: 2,
      completed_count: 2,
      status_reason_message: '1 of 2 beneficiaries rejected; see each item',
    })
    const { header } = (await send(updatesMessage(sp, [{}]))).body
    expect(header).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.errors.too_many' })
  })
})

describe('what is accepted', () => {
  it('a status in additional_attributes is passed over', async () => {
    const additional_attributes = [{ enrollment_status: 'Active', level: 2 }]
    const bare = { programme: { programme_identifier: 'P' } }
    expect(await update([beneficiary('U-31', bare, { additional_attributes })])).toEqual([succ('U-31')])
    const [{ member }] = await found('UIN', 'U-31')
    expect(member.additional_attributes).toEqual([{ level: 2 }])
    expect(await enrolled('U-31')).toBe('no')
  })

  it.each([
    ['a programme that is written as a whole number', enrolment(7), '7'],
    ['members that nobody knows', enrolment('7', { shoe_size: { left: 1 } }), '7'],
    ['a programme in place of its enrolment', '7', '7'],
  ])('%s', async (_, programme, name) => {
    const uin = `U-30-${_.length}`
    expect(await update([beneficiary(uin, programme)])).toEqual([succ(uin)])
    const [{ member }] = await found('UIN', uin)
    expect(member.programme_identifier.programme).toEqual({ programme_identifier: name })
  })

  it('a message_id of any length, which the history does not keep', async () => {
    expect(await update([beneficiary('U-43')], { header: { message_id: 'm'.repeat(600_000) } })).toEqual([succ('U-43')])
    const later = { header: { message_ts: '2026-03-02T08:00:00Z' } }
    expect(await update([beneficiary('U-43', enrolment('PRG-8'))], later)).toEqual([succ('U-43')])
  })

  it('250 beneficiaries, in portions', async () => {
    const many = Array.from({ length: 250 }, (_, at) => beneficiary(`M-${at}`))
    const answer = await update(many)
    expect(answer.map(({ status }: { status: string }) => status)).toEqual(many.map(() => 'succ'))
    expect(await found('UIN', 'M-249')).toHaveLength(1)
  })

  it('the others, where the database refuses a value of one', async () => {
    await server.database.db.pool.query(
      `alter table r${registry.id}_beneficiary
       add check (1 / case when primary_identifier = 'U-41' then 0 else 1 end = 1)`,
    )
    const answer = await update([beneficiary('U-40'), beneficiary('U-41'), beneficiary('U-42')])
    const refused = 'the database cannot store one of its values (SQLSTATE 22012)'
    expect(answer).toEqual([succ('U-40'), rjct('U-41', refused), succ('U-42')])
    expect(await found('UIN', 'U-42')).toHaveLength(1)
  })
})

describe('a message is refused', () => {
  const text = async (body: object, message: string) => expectFault(await send(body), 400, 'err.request.bad', message)

  it.each(['0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])(
    'of a time outside of the years 1 to 9999 in UTC: %s',
    (message_ts) =>
      text(
        updatesMessage(sp, [beneficiary('U-1')], { header: { message_ts } }),
        'header.message_ts: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z',
      ),
  )

  it('without a beneficiary', () =>
    text(updatesMessage(sp, []), 'message.enrolled_updates.beneficiaries: must have at least one item'))

  it('with 10,001 beneficiaries, under either name', async () => {
    const many = Array.from({ length: 10_001 }, () => ({}))
    const rule = 'must have at most 10000 items'
    const code = 'rjct.total_count.limit_exceeded'
    await text(updatesMessage(sp, many), `${code}: message.enrolled_updates.beneficiaries: ${rule}`)
    const message = { enrolled_updates: undefined, receipt_information: { beneficiaries: many } }
    await text(updatesMessage(sp, [], { message }), `${code}: message.receipt_information.beneficiaries: ${rule}`)
  })

  it('with a receipt_type that nobody knows', () =>
    text(
      updatesMessage(sp, [beneficiary('U-1')], { updates: { receipt_type: 'Okoro' } }),
      'message.enrolled_updates.receipt_type: must be one of enrollement, enrollement_status_change, register, payment, deregister',
    ))
})
