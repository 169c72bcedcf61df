/** An envelope that was composed and not committed takes no quota, and has no entry. */

import { withTransaction } from '@rollcall/database/transaction'
import { eraseNotifications } from '@rollcall/delivery/store/events/erasing'
import { readQuotaUseToday } from '@rollcall/participants/store/grant-use'
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
  const used = () => readQuotaUseToday(db, { participant: participant.id, registry: server.registry.id, counted: 'records' })
  return { participant, used }
}

const entriesOf = async (sender_id: string) =>
  (await storedEntries(db)).map(({ entry }) => entry).filter(({ participant }) => participant === sender_id)

const about = { registry: server.registry.id, record_type: 'Person', records: ['1'] }
const erasedCount = { notifications: 1, underway: 0 }
type Commit = () => Promise<boolean>

test.each<[string, (commit: Commit, subscription: number) => Promise<boolean>]>([
  [
    'a subscription is taken back',
    async (commit, subscription) => {
      await db.pool.query(
        `update subscription set state = 'ended', reason = 'cancelled', ended_at = now() where id = ${subscription}`,
      )
      return commit()
    },
  ],
  [
    'the person is erased',
    async (commit) => {
      expect(await eraseNotifications(db.pool, about)).toEqual(erasedCount)
      return commit()
    },
  ],
  [
    'the event is deleted',
    async (commit) => {
      await db.pool.query('delete from event')
      return commit()
    },
  ],
  [
    'the person is being erased: the commit does not wait',
    (commit) =>
      withTransaction(db.pool, async (client) => {
        expect(await eraseNotifications(client, about)).toEqual(erasedCount)
        return commit()
      }),
  ],
])('before an envelope is committed %s: neither the envelope nor an entry is written', async (_, commitAfter) => {
  const { participant, used } = await peerWithQuota()
  const subscribed = await rows.subscribe(participant)
  await rows.notify(subscribed, await rows.event('A'))
  const { writeWith } = auditLog
  const held: boolean[] = []
  vi.spyOn(auditLog, 'writeWith').mockImplementation(async (...written) => {
    const isHeld = await commitAfter(() => writeWith.call(auditLog, ...written), subscribed.id)
    held.push(isHeld)
    return isHeld
  })
  await until(async () => expect(held).toEqual([false]))
  expect([await entriesOf(participant.sender_id), receiver().received, await used()]).toEqual([[], [], 0])
})

test('a person who is erased while an envelope is being committed: the erasure waits, and counts it as underway', async () => {
  const { participant } = await peerWithQuota()
  const subscribed = await rows.subscribe(participant)
  await rows.notify(subscribed, await rows.event('first', { record: 2 }))
  await until(() => expect(receiver().received.flatMap(uinsOf)).toEqual(['first']))
  receiver().answer = (response) => void response.writeHead(503).end()
  await rows.notify(subscribed, await rows.event('A'))
  const isWaiting = (count: number) => async () => {
    const { rows } = await db.pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    expect(rows).toHaveLength(count)
  }
  let sent: Promise<void> = Promise.resolve()
  const erased = await withTransaction(db.pool, async (client) => {
    // The commit has locked its notifications, and waits for this row of the quota.
    await client.query('select from grant_use for update')
    sent = until(() => expect(receiver().received).toHaveLength(2))
    await vi.waitFor(isWaiting(1), { timeout: 30_000, interval: 5 })
    const erasing = eraseNotifications(db.pool, about)
    await vi.waitFor(isWaiting(2), { timeout: 30_000, interval: 5 })
    return { erasing }
  })
  expect(await erased.erasing).toEqual({ notifications: 0, underway: 1 })
  await sent
})

test('what is sent is counted with the envelope, also beyond the quota, and has one entry', async () => {
  const { participant, used } = await peerWithQuota()
  const subscribed = await rows.subscribe(participant)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(receiver().received.flatMap(uinsOf)).toEqual(['A', 'B']))
  expect(await used()).toBe(2)
  expect((await entriesOf(participant.sender_id)).map(({ kind }) => kind)).toEqual(['notification', 'notification'])
})
