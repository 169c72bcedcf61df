import { backfillSubscription, resumeSubscription, testSubscription } from '@rollcall/admin/events/subscription-mailbox'
import { expect, test } from 'vitest'
import { MASTER_KEY } from '../../../server/test/server.ts'
import { about, codeOf, subscribingServer } from '../../../server/test/subscribing.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { described } from '../../test/described.ts'

const { server, newPeer } = await subscribingServer()
const env = { DATABASE_URL: databaseUrl(server.database.connection), ROLLCALL_MASTER_KEY: MASTER_KEY }
const code = await codeOf(server, await newPeer(), about('U-1'))

const subscriptions = (...words: string[]) => rollcallJson(['subscriptions', ...words], env)
const query = async (text: string) => (await server.database.db.pool.query(text)).rows
const purposes = async () => (await query('select purpose from notification order by id')).map((row) => row.purpose)

test('a subscription is tried out with a synthetic record, and backfilled', async () => {
  expect(described(testSubscription, await subscriptions('test', code))).toEqual({ code })
  expect(await purposes()).toEqual(['test'])
  const none = await subscriptions('backfill', code, '--since', '2026-01-01T00:00:00Z')
  expect(described(backfillSubscription, none)).toEqual({ code, queued: 0 })
})

test('one that is suspended is resumed; another is refused', async () => {
  await query(`update subscription set state = 'suspended', reason = 'undeliverable'`)
  expect(described(resumeSubscription, await subscriptions('resume', code))).toEqual({ code })
  const { code: exit, stderr } = await rollcall(['subscriptions', 'resume', code], env)
  expect({ exit, stderr }).toEqual({ exit: 1, stderr: 'rollcall: code: the subscription is live, not suspended\n' })
})
