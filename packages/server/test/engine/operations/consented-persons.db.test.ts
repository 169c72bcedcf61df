/** Who the person of a consent is: what several people share, and types that a registry does not list, name nobody for sure. */

import { reinstateConsent, withdrawConsent } from '@rollcall/admin/consents/consents'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { consentAuthority } from '../../../../admin/test/consents.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { asyncPeer } from '../../asynchronous.ts'
import { ask } from '../../person-questions.ts'
import { postSearch, testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const PHONE = '+1 555 0100'
const person = (uin: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `B-${uin}` },
  ],
  ...more,
})
await server.registry('civil', [
  person('1', { sex: 'F', phone_number: [PHONE] }),
  person('2', { sex: 'M', phone_number: [PHONE] }),
])
const member = (uin: string, identifier_type: string, identifier_value: string) => {
  const identifier = [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type, identifier_value },
  ]
  return { '@type': 'Member', identifier, member_identifier: identifier, enrolment_status: 'Active' }
}
await server.registry('ess', [
  ...[member('E1', 'NID', 'N1'), member('E2', 'PASSPORT_X', 'P7')],
  ...[member('E3', 'PASSPORT_X', 'P8'), { ...member('E4', 'PASSPORT_Y', 'P8'), enrolment_status: 'Suspended' }],
])
const peer = await asyncPeer(server, 'spmis.demo')
const authority = await consentAuthority(server.database)
const deps = { db: server.database.db, vault: server.context.vault }
const terms: Partial<GrantTerms> = {
  query_forms: ['identifier'],
  see: ['identifier'],
  basis: 'consent',
  purposes: ['eligibility'],
}
await grant(server.database, peer.sender_id, 'civil', { ...terms, operations: ['search'] })
await grant(server.database, peer.sender_id, 'ess', { ...terms, operations: ['enrolment-status'] })
server.clock.pass(1_000)

const asserted = () => ({ consent: { ts: new Date().toISOString(), purpose: { code: 'eligibility' } } })
const found = async (type: string, value: string, under: object = asserted()): Promise<number> => {
  const search_criteria = { query_type: 'idtype-value', query: { type, value }, ...under }
  const { body } = await postSearch(server, peer, [{ search_criteria }])
  return body.message.search_response[0].data.reg_records.length
}
const enrolled = async (value: string, under: object = asserted()) => {
  const criteria = { query_type: 'expression', query: { person_identifier: { eq: value } }, ...under }
  const { body } = await ask(server, peer, { operation: 'enrolment-status', namespace: 'ess' }, criteria)
  return JSON.stringify(body)
}
const of = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value, purpose: 'eligibility' })
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: Error) => error.message,
  )

describe('a withdrawal', () => {
  it('is of one person, and not of those who have the same phone number', async () => {
    await withdrawConsent(acting(deps), of('UIN', '1'))
    expect([await found('UIN', '1'), await found('BRN', 'B-1'), await found('UIN', '2')]).toEqual([0, 0, 1])
    expect(await refused(reinstateConsent(acting(deps), of('UIN', '2')))).toBe(
      'purpose: nothing is withdrawn for it by this person',
    )
    expect(await found('UIN', '1')).toBe(0)
    expect(await refused(withdrawConsent(acting(deps), of('MOBILE', PHONE)))).toBe(
      'identifier_value: several records bear it; give the UIN of the person',
    )
    expect(await reinstateConsent(acting(deps), of('UIN', '1'))).toEqual({ reinstated: 1 })
    expect(await found('UIN', '1')).toBe(1)
  })

  it('counts in a registry that does not list the type of the identifier', async () => {
    const before = [await enrolled('N1'), await enrolled('E1'), await enrolled('P7')]
    for (const answer of before) expect(answer).toContain('Active')
    await withdrawConsent(acting(deps), of('NID', 'N1'))
    for (const value of ['N1', 'E1']) expect(await enrolled(value)).not.toContain('Active')
    expect(await enrolled('P7')).toContain('Active')
    await withdrawConsent(acting(deps), of('PASSPORT_X', 'P7'))
    for (const value of ['P7', 'E2']) expect(await enrolled(value)).not.toContain('Active')
    expect(await refused(withdrawConsent(acting(deps), of('LICENCE_Z', 'P7')))).toBe(
      'identifier_type: no registry has identifiers of this type and form',
    )
    await reinstateConsent(acting(deps), of('NID', 'N1'))
    expect(await enrolled('N1')).toContain('Active')
    await reinstateConsent(acting(deps), of('PASSPORT_X', 'P7'))
    expect(await enrolled('P7')).toContain('Active')
  })
})

it('a signed consent of a clock that is ahead is withdrawn once it was used', async () => {
  const subject = { identifier_type: 'UIN', identifier_value: '2' }
  const iat = Math.floor(Date.now() / 1_000) + 55
  const authorize = { consent_jws: await authority.sign({ iat, subject }) }
  expect(await found('UIN', '2', { authorize })).toBe(1)
  await withdrawConsent(acting(deps), of('UIN', '2'))
  expect(await found('UIN', '2', { authorize })).toBe(0)
  await reinstateConsent(acting(deps), of('UIN', '2'))
})

it.each([
  ['eligibilty', 'purpose: is neither configured nor was anything answered for it'],
  ['emergency', 'purpose: an emergency stands in place of a consent and cannot be withdrawn'],
])('nothing is withdrawn for the purpose %s', async (purpose, text) => {
  expect(await refused(withdrawConsent(acting(deps), { ...of('UIN', '2'), purpose }))).toBe(text)
})

it('a signed consent names a person by a type that the registry lists', async () => {
  for (const identifier_type of ['LICENCE_Z', 'PASSPORT_X']) {
    const subject = { identifier_type, identifier_value: 'P7' }
    const attributes = ['enrolment_status', 'identifier']
    const consent_jws = await authority.sign({ aud: 'ess.example', subject, attributes })
    expect(await enrolled('P7', { authorize: { consent_jws } })).toContain('consent_jws: is for another person than is asked for')
  }
})

describe('an identifier of several people, of whom the participant may find one,', () => {
  it('finds nobody in a search', async () => {
    expect(await found('MOBILE', PHONE)).toBe(0)
    await grant(server.database, peer.sender_id, 'civil', {
      ...terms,
      operations: ['search'],
      rows: { Person: { sex: { eq: 'M' } } },
    })
    server.clock.pass(1_000)
    expect([await found('UIN', '1'), await found('UIN', '2'), await found('MOBILE', PHONE)]).toEqual([0, 1, 0])
  })

  it('is answered as somebody unknown in a question', async () => {
    await grant(server.database, peer.sender_id, 'ess', {
      ...terms,
      operations: ['enrolment-status'],
      rows: { Member: { enrolment_status: { eq: 'Active' } } },
    })
    server.clock.pass(1_000)
    expect(await enrolled('E3')).toContain('Active')
    expect(await enrolled('P8')).not.toContain('Active')
  })
})
