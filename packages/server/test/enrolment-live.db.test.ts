/** An enrolment from its update to its end: what is sent is found, answered and notified. */
import { NotifyEventRequest, validator } from '@rollcall/protocol'
import { expect, it, vi } from 'vitest'
import { accepted, asyncPeer, callbacksTo } from './asynchronous.ts'
import { beneficiary, enrolment, enrolmentServer } from './enrolment-updates.ts'
import { about, subscribeFor } from './subscribing.ts'

const { server, update, found, enrolled } = await enrolmentServer({ ROLLCALL_ROLE: 'all' })
const requests = validator(NotifyEventRequest)
const WAIT = { timeout: 60_000 }

it('an enrolment is found, answered with yes and notified; a suspension turns it to no', async () => {
  const peer = await asyncPeer(server, 'subscriber.example')
  const types = ['enrollement', 'enrollement_status_change']
  const criteria = types.map((reg_event_type) => about('HS-89', { reg_event_type }, 'ibr'))
  const request = await accepted(server, peer, subscribeFor(peer, criteria), 'subscribe', 'ibr')
  const callbacks = () => callbacksTo(peer.receiver).map(({ envelope }) => envelope)
  await vi.waitFor(() => {
    expect(callbacks().map(({ message }) => message.correlation_id)).toContain(request)
  }, WAIT)
  const notified = () =>
    callbacks()
      .filter(({ header }) => header.action === 'notify')
      .flatMap(({ message }) => {
        expect(requests.problem(message, 'message')).toBeNull()
        return message.notify_event
      })

  const [created] = await update([beneficiary('HS-89', enrolment('PRG-7'))])
  expect(created).toMatchObject({ reference_id: 'HS-89', status: 'succ' })
  expect(await found('UIN', 'HS-89')).toMatchObject([{ '@type': 'Beneficiary' }])
  expect(await enrolled('HS-89', 'PRG-7')).toBe('yes')
  await vi.waitFor(() => expect(notified()).toHaveLength(1), WAIT)

  const suspension = { enrolment_status: 'Suspended', status_change_date: '2026-03-05' }
  const header = { message_ts: '2026-03-05T08:00:00Z' }
  await update([beneficiary('HS-89', enrolment('PRG-7', suspension))], { header })
  expect(await enrolled('HS-89', 'PRG-7')).toBe('no')
  await vi.waitFor(() => expect(notified()).toHaveLength(2), WAIT)

  const member = {
    '@type': 'Member',
    member_identifier: [{ '@type': 'Identifier', identifier_type: 'UIN', identifier_value: 'HS-89' }],
  }
  expect(notified().map(({ data }) => data)).toMatchObject([
    {
      reg_event_type: 'enrollement',
      reg_record_type: 'Member',
      reg_records: { ...member, additional_attributes: [{ programme_identifier: 'PRG-7', enrolment_status: 'Active' }] },
    },
    {
      reg_event_type: 'enrollement_status_change',
      reg_record_type: 'Member',
      reg_records: { ...member, additional_attributes: [{ programme_identifier: 'PRG-7', ...suspension }] },
    },
  ])
})
