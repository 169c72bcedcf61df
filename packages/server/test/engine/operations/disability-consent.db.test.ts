/** The questions about one person on the basis of a consent. */

import { withdrawConsent } from '@rollcall/admin/consents/consents'
import { afterAll, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { consentAuthority } from '../../../../admin/test/consents.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { ask } from '../../person-questions.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const peer = await server.participant('spmis.demo')
await server.registry('disability', [
  {
    '@type': 'DisabledPerson',
    personal_details: { member_identifier: 'PX-1', name: { first_name: 'Tess', last_name: 'Moor' } },
    disability_status: 'Approved',
    disability_details: [{ impairment_type: '1', impairment_level: '3' }],
  },
])
const authority = await consentAuthority(server.database)
await grant(server.database, peer.sender_id, 'disability', {
  operations: ['disabled', 'disability-details'],
  query_forms: ['identifier'],
  see: ['disability_details'],
  basis: 'consent',
  purposes: ['eligibility'],
})
server.clock.pass(1_000)

const query = { 'personal_details.member_identifier': { eq: 'PX-1' } }
const answer = async (operation: string, more: object) => {
  const { body } = await ask(server, peer, { operation, namespace: 'disability' }, { query, ...more })
  return (body.message.disabled_response ?? body.message.search_response)[0]
}
const asserted = { consent: { ts: new Date().toISOString(), purpose: { code: 'eligibility', refUri: 'https://x.example' } } }
const subject = { identifier_type: 'UIN', identifier_value: 'PX-1' }
const signed = async (...attributes: string[]) => ({
  authorize: { consent_jws: await authority.sign({ aud: 'disability.example', subject, attributes }) },
})

it('are answered under a consent, and as of an unknown person where it covers something else or is withdrawn', async () => {
  expect(await answer('disabled', {})).toMatchObject({
    status: 'rjct',
    status_reason_message: 'disabled_criteria.consent: is required here, with ts and a purpose.code of eligibility',
  })
  expect(await answer('disabled', { consent: 'yes' })).toMatchObject({
    status: 'rjct',
    status_reason_message: 'disabled_criteria.consent: must be an object',
  })
  expect(await answer('disabled', asserted)).toMatchObject({ status: 'succ', disabled_status: 'yes' })
  expect(await answer('disabled', await signed('disability_status'))).toMatchObject({ disabled_status: 'yes' })
  expect(await answer('disabled', await signed('disability_details'))).toMatchObject({ disabled_status: 'no' })
  const details = async (more: object) => (await answer('disability-details', more)).data.reg_records.length
  expect(await details(await signed('disability_details'))).toBe(1)
  expect(await details(await signed('disability_status'))).toBe(0)
  await withdrawConsent(acting({ db: server.database.db, vault: server.context.vault }), { ...subject, purpose: 'eligibility' })
  expect(await answer('disabled', asserted)).toMatchObject({ status: 'succ', disabled_status: 'no' })
  expect(await details(asserted)).toBe(0)
})
