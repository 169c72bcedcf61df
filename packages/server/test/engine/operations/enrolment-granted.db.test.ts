/** What of enrolment updates a grant allows to write, and how little their answers say of anybody else. */
import { describe, expect, it } from 'vitest'
import { grant } from '../../../../participants/test/grants.ts'
import { beneficiary, enrolment, enrolmentServer } from '../../enrolment-updates.ts'
import { writeDocuments } from '../../server.ts'

const { server, sp, registry, update, found, enrolled } = await enrolmentServer()

const succ = (reference_id: string) => ({ reference_id, timestamp: expect.any(String), status: 'succ' })
const rjct = (reference_id: string, status_reason_message: string) => ({
  reference_id,
  timestamp: expect.any(String),
  status: 'rjct',
  status_reason_message,
})
const also = (identifier: unknown) => ({ demographic_info: { person: { identifier } } })
const nid = (value: string) => [{ identifier_type: 'NID', identifier_value: value }]

describe('a grant bounds what is written', () => {
  const NEUTRAL =
    'member.member_identifier: this participant may not write this record, or the identifiers do not name one person; a new person needs the primary identifier'
  const sex = (value: string, identifier: object[] = []) => ({ demographic_info: { person: { sex: value, identifier } } })

  it('to the rows of the grant, and says nothing of others', async () => {
    await update([
      beneficiary('U-50', enrolment('P-1'), sex('M', nid('N-50'))),
      beneficiary('U-51', enrolment('P-1'), sex('F', nid('N-51'))),
    ])
    const before = await found('UIN', 'U-50')
    const rows = { Beneficiary: { sex: { eq: 'F' } } }
    await grant(server.database, sp.sender_id, 'ibr', { rows })
    server.clock.pass(1_000)
    const given = {
      outside: beneficiary('U-50', enrolment('P-2')),
      takes_in: beneficiary('U-50', enrolment('P-2'), sex('F')),
      outside_by_another: beneficiary(nid('N-50'), enrolment('P-2')),
      nobody: beneficiary(nid('N-59'), enrolment('P-2')),
      several: beneficiary([...nid('N-50'), ...nid('N-51')], enrolment('P-2')),
      another_uin: beneficiary('U-59', enrolment('P-2'), sex('F', nid('N-50'))),
      takes_out: beneficiary('U-51', enrolment('P-2'), sex('M')),
      new_outside: beneficiary('U-52', enrolment('P-2'), sex('M')),
    }
    for (const [name, one] of Object.entries(given)) {
      const [{ status, status_reason_message }] = await update([one], { header: { message_ts: '2026-03-02T08:00:00Z' } })
      expect({ name, status, status_reason_message }).toEqual({ name, status: 'rjct', status_reason_message: NEUTRAL })
    }
    const granted = [beneficiary('U-51', enrolment('P-2')), beneficiary('U-53', enrolment('P-2'), sex('F'))]
    expect(await update(granted)).toEqual([succ('U-51'), succ('U-53')])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
    expect(await found('UIN', 'U-50')).toEqual(before)
    expect(await found('UIN', 'U-52')).toEqual([])
  })

  it('to adults where the grant never finds minors', async () => {
    const born = (birth_date: string) => ({ demographic_info: { person: { birth_date } } })
    await update([beneficiary('U-55', enrolment('P-1'), born('2025-01-01'))])
    const before = await found('UIN', 'U-55')
    await grant(server.database, sp.sender_id, 'ibr', { minors: 'never' })
    server.clock.pass(1_000)
    const adult = born('1980-01-01')
    expect(
      await update([
        beneficiary('U-55', enrolment('P-2'), adult),
        beneficiary('U-56', enrolment('P-2'), born('2025-01-01')),
        beneficiary('U-57', enrolment('P-2'), adult),
      ]),
    ).toEqual([rjct('U-55', NEUTRAL), rjct('U-56', NEUTRAL), succ('U-57')])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
    expect(await found('UIN', 'U-55')).toEqual(before)
  })

  it('to its types of identifiers', async () => {
    await grant(server.database, sp.sender_id, 'ibr', { identifier_types: ['UIN'] })
    server.clock.pass(1_000)
    const refused = 'member.member_identifier: identifiers of type NID are not granted to this participant'
    expect(
      await update([beneficiary(nid('N-51')), beneficiary('U-51', undefined, also(nid('N-51'))), beneficiary('U-51')]),
    ).toEqual([rjct('N-51', refused), rjct('U-51', refused), succ('U-51')])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
  })

  it('to its programmes, also where one is given in two spellings', async () => {
    await grant(server.database, sp.sender_id, 'ibr', { programmes: ['PRG-7'] })
    server.clock.pass(1_000)
    const programme = { programme_identifier: 'PRG-7', 'x:programme_identifier': 'PRG-99' }
    expect(await update([beneficiary('U-60', { programme, enrolment_status: 'Active' })])).toEqual([
      rjct('U-60', 'member.programme_identifier.programme.programme_identifier: must be given once, in one spelling'),
    ])
    expect(await found('UIN', 'U-60')).toEqual([])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
  })

  it('to its types of identifiers, and to persons whom it names, also where an identifier is given in two spellings', async () => {
    await update([beneficiary('U-61')])
    await grant(server.database, sp.sender_id, 'ibr', { identifier_types: ['UIN'] })
    server.clock.pass(1_000)
    const twice = 'member.member_identifier: must be given once, in one spelling'
    expect(
      await update([
        beneficiary('U-61', undefined, { 'x:member_identifier': nid('N-61') }),
        beneficiary('U-69', undefined, { 'x:member_identifier': 'U-61' }),
      ]),
    ).toEqual([rjct('U-61', twice), rjct('U-69', twice)])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
    expect(await found('NID', 'N-61')).toEqual([])
  })

  it('to its programmes: no enrolment takes a date from beside the member', async () => {
    await update([beneficiary('U-62', enrolment('PRG-1'))])
    await grant(server.database, sp.sender_id, 'ibr', { programmes: ['PRG-7'] })
    server.clock.pass(1_000)
    expect(await update([{ ...beneficiary('U-62'), programme: { enrolment_date: '2099-01-01' } }])).toEqual([succ('U-62')])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
    expect([await enrolled('U-62', 'PRG-1'), await enrolled('U-62', 'PRG-7')]).toEqual(['yes', 'yes'])
  })

  it('to its types of identifiers: a value alone replaces none', async () => {
    const [identifier] = nid('N-63')
    const published = beneficiary('U-63', [], { demographic_info: { person: identifier } })
    await writeDocuments(server.database, registry, [published])
    await grant(server.database, sp.sender_id, 'ibr', { identifier_types: ['UIN'] })
    server.clock.pass(1_000)
    const alone = { demographic_info: { person: { identifier_value: 'N-64' } } }
    expect(await update([beneficiary('U-63', undefined, alone)])).toEqual([succ('U-63')])
    await grant(server.database, sp.sender_id, 'ibr', {})
    server.clock.pass(1_000)
    expect(await found('NID', 'N-63')).toMatchObject([{ member: { member_identifier: 'U-63' } }])
    expect(await found('NID', 'N-64')).toEqual([])
  })
})
