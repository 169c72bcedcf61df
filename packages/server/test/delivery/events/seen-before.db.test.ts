/** A notification does not tell what a record was while the grant did not show it. */
import { publishEvent } from '@rollcall/admin/events/publish'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { subscribeLive } from '../../../../delivery/test/subscriptions.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { answering } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { envelopeOf } from '../../notifications.ts'

const { server, newPeer, until, receiver } = await mailboxSender()
const { db } = server.database

const SHOWN = { sex: 'female', birth_date: '1980-01-01' }
const publish = (uin: string, surname: string, members: object) =>
  publishEvent(acting({ db, limits: server.context.limits }), {
    namespace: 'civil',
    reg_event_type: 'UPDATE',
    record: { identifier: [{ identifier_type: 'UIN', identifier_value: uin }], name: { surname }, ...members },
  })

test.each<[string, Partial<GrantTerms>, object]>([
  ['that the grant does not include', { rows: { Person: { sex: { eq: 'female' } } } }, { sex: 'male' }],
  ['of a minor', { minors: 'never' }, { birth_date: '2024-01-01' }],
])('a record %s was not there before it is shown', async (name, terms, hidden) => {
  const peer = receiver()
  peer.answer = answering(200)
  const { id, sender_id } = await newPeer()
  await grant(server.database, sender_id, 'civil', terms)
  await subscribeLive(db, server.registry, 'UPDATE', { surname: { eq: 'Obi' } }, { participant: id })
  const uin = (who: string): string => `${who} ${name}`
  for (const [who, surname, before, after] of [
    ['renamed', 'Eze', { ...SHOWN, ...hidden }, SHOWN],
    ['kept', 'Obi', { ...SHOWN, ...hidden }, SHOWN],
    ['shown, renamed', 'Eze', SHOWN, SHOWN],
    ['shown, kept', 'Obi', SHOWN, SHOWN],
  ] as const) {
    await publish(uin(who), 'Obi', before)
    await publish(uin(who), surname, after)
  }
  const told = () =>
    peer.received.map(envelopeOf).flatMap(({ header, message }) =>
      // biome-ignore lint/suspicious/noExplicitAny: what was sent is what is asserted
      message.notify_event.map(({ reference_id, data }: any) => [
        data.reg_records.identifier[0].identifier_value,
        ...Object.values(header.meta.presence[reference_id]),
      ]),
    )
  await until(() => expect(told().at(-1)).toEqual([uin('shown, kept'), 'stayed']))
  expect(told()).toEqual([
    [uin('kept'), 'entered'],
    [uin('shown, renamed'), 'entered'],
    [uin('shown, renamed'), 'left'],
    [uin('shown, kept'), 'entered'],
    [uin('shown, kept'), 'stayed'],
  ])
})
