/** Questions and updates about a protected person are answered like those about an unknown person. */

import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { beneficiary, enrolment, enrolmentServer } from '../../enrolment-updates.ts'
import { ask } from '../../person-questions.ts'
import { writeDocuments } from '../../server.ts'

const { server, registry, update, enrolled, found } = await enrolmentServer()
const { db } = server.database
const shelter = await server.participant('shelter.example', {}, { protected: ['shelter'] })
await writeDocuments(server.database, registry, [
  beneficiary('U-1001', enrolment('PRG-1'), {
    member_identifier: [
      { identifier_type: 'UIN', identifier_value: 'U-1001' },
      { identifier_type: 'NID', identifier_value: 'N-1001' },
    ],
  }),
  beneficiary('U-1002', enrolment('PRG-1'), {
    related_person: [{ relationship_type: 'child', related_member: { member_identifier: 'U-1001' } }],
  }),
])
const protect = (identifier_value: string) =>
  protectPerson(acting({ db }), { namespace: 'ibr', identifier_type: 'UIN', identifier_value, category: 'shelter', reason: 'x' })
const masked = (items: readonly object[]) => items.map((item) => ({ ...item, timestamp: '', reference_id: '' }))
const programmesOf = async (by: typeof shelter, person: string, programme: string) => {
  const query = { person_identifier: { eq: person }, 'programme_identifier.programme.programme_identifier': { eq: programme } }
  const answer = await ask(server, by, { operation: 'enrolled', namespace: 'ibr' }, { query })
  return answer.body.message.enrolled_response[0].enrolled_status
}

test('questions and updates are answered as about somebody unknown, and the update is written to the record', async () => {
  expect(await enrolled('U-1001')).toBe('yes')
  await protect('U-1001')
  server.clock.pass(1_000)
  expect(await enrolled('U-1001')).toBe('no')
  expect(await programmesOf(shelter, 'U-1001', 'PRG-1')).toBe('yes')
  const nid = { identifier_type: 'NID', identifier_value: 'N-1001' }
  const unknownNid = { identifier_type: 'NID', identifier_value: 'N-9999' }
  const [hidden, unknown, byNid, byUnknownNid] = await update([
    beneficiary('U-1001', enrolment('PRG-2')),
    beneficiary('U-9001', enrolment('PRG-2')),
    beneficiary(nid, enrolment('PRG-2')),
    beneficiary(unknownNid, enrolment('PRG-2')),
  ])
  expect(masked([hidden])).toEqual(masked([unknown]))
  expect(masked([byNid])).toEqual(masked([byUnknownNid]))
  expect(byNid.status).toBe('rjct')
  // The record has what was there and what came; nobody new was made of it.
  expect(await programmesOf(shelter, 'U-1001', 'PRG-1')).toBe('yes')
  expect(await programmesOf(shelter, 'U-1001', 'PRG-2')).toBe('yes')
  const { rows } = await db.pool.query('select count(*)::int as count from r1_beneficiary')
  expect(rows).toEqual([{ count: 3 }])
  expect(await found('UIN', 'U-1001')).toEqual([])
})

test('a rejection names what is wrong with the update alone, as for an unknown person', async () => {
  const bad = enrolment('PRG-3', { enrolment_date: 'soon' })
  const [hidden, unknown] = await update([beneficiary('U-1001', bad), beneficiary('U-9002', bad)])
  expect(masked([hidden])).toEqual(masked([unknown]))
})

test('a related person who is protected is not shown', async () => {
  const [record] = await found('UIN', 'U-1002')
  expect(JSON.stringify(record)).not.toContain('U-1001')
  expect(JSON.stringify(record)).not.toContain('child')
})
