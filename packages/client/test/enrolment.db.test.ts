/** Enrolments and disabilities against the real server: signed, and encrypted where a test says so. */
import type { Jwk } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sealingPeer } from '../../server/test/sealing.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import { type ClientOptions, identifier, itemsOrThrow, RegistryClient } from '../src/index.ts'

let server: TestServer
let peer: Awaited<ReturnType<typeof sealingPeer>>
beforeAll(async () => {
  server = await testServer()
  await server.registry('ibr')
  await server.registry('ess', [
    {
      '@type': 'Member',
      member_identifier: [{ identifier_type: 'UIN', identifier_value: '4100' }],
      additional_attributes: [{ enrolment_status: '7' }],
    },
  ])
  await server.registry('disability', [
    {
      '@type': 'DisabledPerson',
      personal_details: { member_identifier: [{ identifier_type: 'UIN', identifier_value: 'PX-1' }] },
      disability_status: 'Approved',
      disability_details: [{ impairment_type: '1' }, { impairment_type: '3' }],
      disability_support: [{ housing_type: '1' }],
    },
  ])
  peer = await sealingPeer(server, 'sp.example', { decrypts: 'X25519' })
})
afterAll(() => server.close())

function client(namespace: string, options: Partial<ClientOptions> = {}): RegistryClient {
  return new RegistryClient({
    base_url: `${server.url}/${namespace}/v1.0.0`,
    sender_id: peer.sender_id,
    receiver_id: `${namespace}.example`,
    credentials: { client_id: peer.client_id, client_secret: peer.secret },
    signing: { key: { ...peer.signer.privateJwk, kid: peer.signer.kid } as Jwk },
    ...options,
  })
}

const beneficiary = (enrolment: object) => ({
  member: { member_identifier: 'U-61', programme_identifier: { programme: { programme_identifier: 'PRG-7' }, ...enrolment } },
})

it('an enrolment is sent, found, asked about, suspended, and its receipt is kept', async () => {
  const ibr = client('ibr')
  const question = { person: 'U-61', programme: 'PRG-7' }
  expect(await ibr.enrolled(question)).toBe(false)
  const active = beneficiary({ enrolment_status: 'Active', status_change_date: '2026-03-01' })
  const wrong = beneficiary({ enrolment_status: 'Sleeping' })
  const updates = await ibr.updateEnrolments([active, wrong], { receipt_type: 'enrollement' })
  expect(updates).toMatchObject([
    { index: 0, reference_id: 'U-61', ok: true, message: null },
    { index: 1, reference_id: 'U-61', ok: false, message: expect.stringMatching(/^enrolment_status: must be /) },
  ])
  expect(await ibr.searchOne(identifier('UIN', 'U-61'))).toMatchObject(active)
  expect(await ibr.enrolled(question)).toBe(true)
  expect(await ibr.enrolled({ ...question, programme: 'PRG-8' })).toBe(false)

  const suspended = beneficiary({ enrolment_status: 'Suspended', status_change_date: '2026-06-01' })
  expect(await ibr.updateEnrolments(suspended)).toMatchObject([{ ok: true }])
  expect(await ibr.enrolled({ person: 'U-61' })).toBe(false)

  const attribute_value = updates[0]?.transaction_id ?? ''
  const receipt = await ibr.txnStatus({ txn_type: 'receipt', attribute_type: 'transaction_id', attribute_value })
  const { txn_status } = receipt.message.txnstatus_response
  expect(txn_status).toMatchObject({ enrolled_response: [{ status: 'succ' }, { status: 'rjct' }] })
})

it('updates and questions go encrypted, and are answered so', async () => {
  const { jwk, privateJwk } = peer.encryption ?? {}
  const ibr = client('ibr', { encryption: { keys: [{ ...privateJwk, kid: 'enc-1' } as Jwk] } })
  expect(jwk).toBeDefined()
  const enrolment = { enrolment_status: 'Active', status_change_date: '2026-07-01' }
  expect(await ibr.updateEnrolments(beneficiary(enrolment))).toMatchObject([{ ok: true }])
  expect(await ibr.enrolled({ person: 'U-61' })).toBe(true)
})

it('an employment support system gives its label, also of somebody whom it does not know', async () => {
  expect(await client('ess').checkEnrolment('4100')).toBe('Awaiting Renewal')
  expect(await client('ess').checkEnrolment('9999')).toBe('Inactive')
})

it('a disability registry says whether, how and with which support', async () => {
  const disability = client('disability')
  expect(await Promise.all(['PX-1', 'PX-2'].map((person) => disability.disabled(person)))).toEqual([true, false])
  expect(await disability.disabilityDetails('PX-1')).toEqual([{ impairment_type: '1' }, { impairment_type: '3' }])
  expect(await disability.disabilitySupport('PX-1')).toEqual([{ housing_type: '1' }])
  expect(await disability.disabilityDetails('PX-2')).toEqual([])
})

it('what a registry does not serve is refused', async () => {
  await expect(client('ess').enrolled({ person: '4100' })).rejects.toMatchObject({ code: 'err.request.not_found' })
  const question = { enrolled_criteria: { query: { surname: { eq: 'SECRET' } } } }
  const answer = await client('ibr').ask('enrolled', question)
  expect(() => itemsOrThrow(answer)).toThrow(/enrolled_criteria\.query/)
})
