/** Enrolment updates over HTTP: what they write, how each beneficiary is answered, and what search says then. */
import { randomUUID } from 'node:crypto'
import { EnrollmentUpdatesResponse, validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bearer,
  post,
  searchRequest,
  type TestParticipant,
  type TestServer,
  testServer,
} from '../../test/server.ts'

let server: TestServer
let sp: TestParticipant
beforeAll(async () => {
  server = await testServer()
  sp = await server.participant('sp.example')
  await server.registry('ibr')
})
afterAll(async () => {
  expect(server.logged()).not.toMatch(/Okoro/)
  await server.close()
})

const responses = validator(EnrollmentUpdatesResponse)

function updates(
  beneficiaries: unknown,
  { header = {}, message = {} }: { readonly header?: object; readonly message?: object } = {},
  by = sp,
) {
  return {
    header: {
      version: '1.0.0',
      message_id: `m-${randomUUID()}`,
      message_ts: '2026-03-01T08:00:00Z',
      action: 'notify',
      sender_id: by.sender_id,
      ...header,
    },
    message: { transaction_id: 'tx-1', enrolled_updates: { beneficiaries }, ...message },
  }
}

const send = (body: object, path = 'registry/enrollments/updates', by = sp) =>
  post(`${server.url}/ibr/v1.0.0/${path}`, body, bearer(by))

/** The items of the answer, which has the documented shape, in the envelope and beside it. */
async function update(beneficiaries: unknown, more: Parameters<typeof updates>[1] = {}) {
  const { status, body } = await send(updates(beneficiaries, more))
  expect(status, JSON.stringify(body)).toBe(200)
  expect(responses.problem(body.message, 'message')).toBeNull()
  const { transaction_id, correlation_id, enrolled_response } = body
  expect({ transaction_id, correlation_id, enrolled_response }).toEqual(body.message)
  return body.message.enrolled_response
}

const enrolment = (programme: string, members: object = {}) => ({
  programme: { programme_identifier: programme },
  enrolment_date: '2026-01-01',
  enrolment_status: 'Active',
  ...members,
})
const beneficiary = (uin: string, enrolments: unknown = enrolment('PRG-7'), member: object = {}) => ({
  '@type': 'Beneficiary',
  member: { member_identifier: uin, programme_identifier: enrolments, ...member },
})

async function found(query: object) {
  const answer = await post(
    `${server.url}/ibr/v1.0.0/registry/sync/search`,
    searchRequest(sp.sender_id, query),
    bearer(sp),
  )
  return answer.body.message.search_response[0].data?.reg_records
}
const person = async (uin: string) => (await found({ type: 'UIN', value: uin }))[0]

describe('an update', () => {
  it('adds a person, whom a search finds at once', async () => {
    const demographic_info = {
      person: { identifier_type: 'NID', identifier_value: 'N-1', name: { surname: 'Okoro' } },
    }
    expect(await update([beneficiary('U-1', undefined, { demographic_info })])).toEqual([
      { reference_id: 'U-1', timestamp: expect.any(String), status: 'succ' },
    ])
    expect(await person('U-1')).toEqual({
      '@type': 'Beneficiary',
      member: {
        member_identifier: 'U-1',
        demographic_info: {
          person: {
            identifier: [{ identifier_type: 'NID', identifier_value: 'N-1' }],
            name: { surname: 'Okoro' },
          },
        },
        programme_identifier: {
          programme: { programme_identifier: 'PRG-7' },
          enrolment_date: '2026-01-01',
          enrolment_status: 'Active',
          status_change_date: '2026-03-01T08:00:00.000Z',
        },
      },
    })
    expect(await found({ type: 'NID', value: 'N-1' })).toHaveLength(1)
  })

  it('of a second programme joins the first', async () => {
    await update([beneficiary('U-2', enrolment('PRG-1'))])
    await update([beneficiary('U-2', enrolment('PRG-0'))])
    const { member } = await person('U-2')
    expect(member.programme_identifier.map((one: { programme: object }) => one.programme)).toEqual([
      { programme_identifier: 'PRG-0' },
      { programme_identifier: 'PRG-1' },
    ])
  })
})
