/** Enrolment updates for tests: a beneficiary registry, and who sends updates to it. */

import { randomUUID } from 'node:crypto'
import { EnrollmentUpdatesResponse, validator } from '@rollcall/protocol'
import { afterAll, expect } from 'vitest'
import type { TestSettings } from '../../settings/test/config.ts'
import { ask } from './person-questions.ts'
import { bearer, post, searchRequest, type TestParticipant, testServer } from './server.ts'

const responses = validator(EnrollmentUpdatesResponse)

export const enrolment = (programme: unknown, members: object = {}) => ({
  programme: { programme_identifier: programme },
  enrolment_status: 'Active',
  ...members,
})

export const beneficiary = (uin: unknown, enrolments: unknown = enrolment('PRG-7'), member: object = {}) => ({
  '@type': 'Beneficiary',
  member: { member_identifier: uin, programme_identifier: enrolments, ...member },
})

interface Changes {
  readonly header?: object
  readonly updates?: object
  readonly message?: object
  readonly by?: TestParticipant
  readonly path?: string
}

/** A valid message of updates, which tests change. */
export const updatesMessage = (
  by: Pick<TestParticipant, 'sender_id'>,
  beneficiaries: unknown,
  { header, updates, message }: Changes = {},
) => ({
  header: {
    version: '1.0.0',
    message_id: `m-${randomUUID()}`,
    message_ts: '2026-03-01T08:00:00Z',
    action: 'notify',
    sender_id: by.sender_id,
    ...header,
  },
  message: { transaction_id: 'tx-1', enrolled_updates: { beneficiaries, ...updates }, ...message },
})

/** A server with a beneficiary registry for the tests of one file, to be awaited at its top level. */
export async function enrolmentServer(env: TestSettings = {}) {
  const server = await testServer(env)
  afterAll(async () => {
    expect(server.logged()).not.toMatch(/Okoro/)
    await server.close()
  })
  const sp = await server.participant('sp.example')
  const registry = await server.registry('ibr')
  const send = (body: string | object, { by = sp, path = 'registry/enrollments/updates' }: Changes = {}) =>
    post(`${server.url}/ibr/v1.0.0/${path}`, body, bearer(by))
  return {
    server,
    sp,
    registry,
    send,
    /**
     * Sends updates, and returns the items of the answer. The answer must have the documented shape, in the envelope
     * and beside it.
     */
    async update(beneficiaries: unknown, changes: Changes = {}) {
      const { status, body } = await send(updatesMessage(changes.by ?? sp, beneficiaries, changes), changes)
      expect(status, JSON.stringify(body)).toBe(200)
      expect(responses.problem(body.message, 'message')).toBeNull()
      const { transaction_id, correlation_id, enrolled_response } = body
      expect({ transaction_id, correlation_id, enrolled_response }).toEqual(body.message)
      return body.message.enrolled_response
    },
    async found(type: string, value: string) {
      const request = searchRequest(sp.sender_id, { type, value })
      const answer = await post(`${server.url}/ibr/v1.0.0/registry/sync/search`, request, bearer(sp))
      return answer.body.message.search_response[0].data.reg_records
    },
    /** Asks for the enrolments of a person, in one programme or in all. */
    async enrolled(person: string, programme?: string) {
      const query = {
        person_identifier: { eq: person },
        ...(programme && { 'programme_identifier.programme.programme_identifier': { eq: programme } }),
      }
      const answer = await ask(server, sp, { operation: 'enrolled', namespace: 'ibr' }, { query })
      return answer.body.message.enrolled_response[0].enrolled_status
    },
  }
}
