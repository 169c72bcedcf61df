/** An envelope that was composed and not committed takes no quota, and has no entry. */

import { readUsedToday } from '@rollcall/participants/store/grant-use'
import { afterEach, expect, test, vi } from 'vitest'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { uinsOf } from '../../notifications.ts'

const { server, rows, newPeer, until, receiver } = await mailboxSender({ notify_items: 1 })
const { db } = server.database
const { auditLog } = server.context
afterEach(() => vi.restoreAllMocks())

async function peerWithQuota() {
  const participant = await newPeer()
  await db.pool.query(`update participant_grant set terms = jsonb_set(terms::jsonb, '{records_per_day}', '9')
    where participant = ${participant.id}`)
  const used = () => readUsedToday(db, { participant: participant.id, registry: server.registry.id, counted: 'records' })
  return { participant, used }
}

const entriesOf = async (sender_id: string) =>
  (await storedEntries(db)).map(({ entry }) => entry).filter(({ participant }) => participant === sender_id)

test('a subscription that is taken back before its envelope is committed: neither that nor an entry is written', async () => {
  const { participant, used } = await peerWithQuota()
  const subscribed = await rows.subscribe(participant)
  await rows.notify(subscribed, await rows.event('A'))
  const { writeWith } = auditLog
  const held: boolean[] = []
  vi.spyOn(auditLog, 'writeWith').mockImplementation(async (...written) => {
    await db.pool.query(
      `update subscription set state = 'ended', reason = 'cancelled', ended_at = now() where id = ${subscribed.id}`,
    )
    const isHeld = await writeWith.call(auditLog, ...written)
    held.push(isHeld)
    return isHeld
  })
  await until(async () => expect(held).toEqual([false]))
  expect([await entriesOf(participant.sender_id), receiver().received, await used()]).toEqual([[], [], 0])
})

test('what is sent is counted with the envelope, also beyond the quota, and has one entry', async () => {
  const { participant, used } = await peerWithQuota()
  const subscribed = await rows.subscribe(participant)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(receiver().received.flatMap(uinsOf)).toEqual(['A', 'B']))
  expect(await used()).toBe(2)
  expect((await entriesOf(participant.sender_id)).map(({ kind }) => kind)).toEqual(['notification', 'notification'])
})
