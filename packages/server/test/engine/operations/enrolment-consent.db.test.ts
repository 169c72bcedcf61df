/** `enrolled` and `enrolment-status` on the basis of a consent that an authority has signed. */

import { revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { consentAuthority } from '../../../../admin/test/consents.ts'
import { beneficiary, enrolment } from '../../../../core/test/beneficiaries.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { ask } from '../../person-questions.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const peer = await server.participant('spmis.demo')
const people = ['P-1', 'P-2', 'W-ibr', 'W-ess']
await server.registry(
  'ibr',
  people.map((uin) => beneficiary(uin, enrolment('PRG-7'))),
)
await server.registry(
  'ess',
  people.map((uin) => ({
    '@type': 'Member',
    member_identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
    enrolment_status: 'Active',
  })),
)
const authority = await consentAuthority(server.database)
const deps = { db: server.database.db, vault: server.context.vault }

const QUESTIONS = [
  {
    namespace: 'ibr',
    operation: 'enrolled',
    covered: 'enrolment',
    yes: { enrolled_status: 'yes' },
    unknown: { enrolled_status: 'no' },
  },
  {
    namespace: 'ess',
    operation: 'enrolment-status',
    covered: 'enrolment_status',
    yes: { enrolled_status: 'Active' },
    unknown: { enrolled_status: 'Inactive', status_reason_message: 'person not enrolled' },
  },
] as const

for (const { namespace, operation } of QUESTIONS) {
  await grant(server.database, peer.sender_id, namespace, {
    operations: [operation],
    query_forms: ['identifier'],
    see: ['identifier'],
    basis: 'consent',
    purposes: ['eligibility'],
    consent: 'signed',
    authorities: [authority.name],
  })
}
server.clock.pass(1_000)

const AT = 'enrolled_criteria.authorize.consent_jws'

describe.each(QUESTIONS)('$operation', ({ namespace, operation, covered, yes, unknown }) => {
  const answer = async (uin: string, more: object) => {
    const query = { person_identifier: { eq: uin } }
    const criteria = { query_type: 'expression', query, ...more }
    const { body } = await ask(server, peer, { operation, namespace }, criteria)
    const { reference_id: _, timestamp: __, ...item } = body.message.enrolled_response[0]
    return item
  }
  const signed = async (uin: string, claims: object = {}, ...signing: object[]) => {
    const subject = { identifier_type: 'UIN', identifier_value: uin }
    const more = { aud: `${namespace}.example`, subject, attributes: [covered], ...claims }
    return { authorize: { consent_jws: await authority.sign(more, ...signing) } }
  }
  const succ = (members: object) => ({ status: 'succ', ...members })

  it('is answered of the person whose consent covers it', async () => {
    expect(await answer('P-1', await signed('P-1'))).toEqual(succ(yes))
    const { authorize: consent } = await signed('P-1')
    expect(await answer('P-1', { consent })).toEqual(succ(yes))
  })

  it('is answered as of somebody unknown where the consent covers something else', async () => {
    expect(await answer('P-9', await signed('P-9'))).toEqual(succ(unknown))
    for (const attributes of [['identifier'], ['disability_status'], ['name', 'enrolment_date']]) {
      expect(await answer('P-1', await signed('P-1', { attributes }))).toEqual(succ(unknown))
    }
  })

  it('is answered as of somebody unknown once the consent is withdrawn or revoked', async () => {
    const [kept, revoked] = [`kept-${namespace}`, `revoked-${namespace}`]
    const under = async (jti: string) => answer('P-2', await signed('P-2', { jti }))
    expect([await under(kept), await under(revoked)]).toEqual([succ(yes), succ(yes)])
    await revokeConsents(acting(deps), { authority: authority.name, revoked: [revoked] })
    expect([await under(kept), await under(revoked)]).toEqual([succ(yes), succ(unknown)])
    const identifier_value = `W-${namespace}`
    expect(await answer(identifier_value, await signed(identifier_value))).toEqual(succ(yes))
    await withdrawConsent(acting(deps), { identifier_type: 'UIN', identifier_value, purpose: 'eligibility' })
    expect(await answer(identifier_value, await signed(identifier_value))).toEqual(succ(unknown))
  })

  const now = Math.floor(Date.now() / 1_000)
  const uriRule = 'must be an absolute URI'
  it.each<[string, () => Promise<object>, string]>([
    [
      'no consent',
      async () => ({}),
      `enrolled_criteria.consent: is required here, a consent for eligibility that ${authority.name} has signed`,
    ],
    [
      'a consent that nobody signed',
      async () => ({ consent: { ts: new Date().toISOString(), purpose: { code: 'eligibility' } } }),
      `enrolled_criteria.consent.consent_jws: is required here, a consent for eligibility that ${authority.name} has signed`,
    ],
    [
      'an unsigned consent whose ref_uri is no address',
      async () => ({ consent: { purpose: { code: 'eligibility', ref_uri: 'see above' } } }),
      `enrolled_criteria.consent.purpose.ref_uri: ${uriRule}`,
    ],
    [
      'a signed consent whose ref_uri is no address',
      () => signed('P-1', { purpose: { code: 'eligibility', ref_uri: 'see above' } }),
      `${AT}: its payload: claims.purpose.ref_uri: ${uriRule}`,
    ],
    ['that of another person', () => signed('P-2'), `${AT}: is for another person than is asked for`],
    [
      'one for another registry',
      () => signed('P-1', { aud: 'civil.example' }),
      `${AT}: aud: must have the sender_id of this registry`,
    ],
    ['one that has expired', () => signed('P-1', { exp: now - 1 }), `${AT}: exp: the consent has expired`],
    [
      'one for another purpose',
      () => signed('P-1', { purpose: { code: 'marketing' } }),
      `${AT}: purpose.code: must be one of eligibility`,
    ],
    [
      'one of another authority',
      () => signed('P-1', { iss: 'https://other.example' }),
      `${AT}: iss: must be one of ${authority.name}`,
    ],
    ['one for another participant', () => signed('P-1', { azp: 'other.demo' }), `${AT}: azp: names another participant`],
  ])('is refused with %s', async (_, consent, message) => {
    expect(await answer('P-1', await consent())).toEqual({ status: 'rjct', status_reason_message: message })
  })
})
