/** A server whose mailboxes a test empties, and a receiver for each test. */

import type { Participant } from '@rollcall/core/model/participant'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { afterAll, afterEach, beforeEach, vi } from 'vitest'
import { type Receiver, receiver, takes, testSender } from './deliveries.ts'
import { eventRows } from './notifications.ts'

/** Starts a sender for the tests of one file. @param settings those of the callbacks of every participant */
export async function mailboxSender(settings: Partial<CallbackSettings> = {}) {
  const server = await testSender()
  afterAll(() => server.close())
  const { pool } = server.database.db
  const rows = eventRows(server.database, server.registry)
  let peer: Receiver
  let working: AbortController
  let count = 0
  beforeEach(async () => {
    working = new AbortController()
    peer = await receiver()
  })
  afterEach(async () => {
    working.abort()
    await server.context.mailboxes.idle()
    await server.context.dispatcher.idle()
    await server.context.limiter.idle()
    await pool.query('truncate notification, subscription, event, mailbox, delivery, breaker cascade')
    await peer.close()
  })
  return {
    server,
    rows,
    /** The receiver of the running test. */
    receiver: (): Receiver => peer,
    /** The signal that is aborted at the end of the test. */
    working: (): AbortSignal => working.signal,
    /** Adds a participant whose callbacks come to the receiver, and who may subscribe without a filter. */
    newPeer(changes: Partial<CallbackSettings> = {}): Promise<Participant> {
      count += 1
      const given = { ...settings, ...changes }
      return takes(server, `peer-${count}.example`, peer.url, given, {}, { unfiltered: true })
    },
    /** Works on mailboxes and deliveries until `check` does not throw any more, for a minute at most. */
    async until(check: () => Promise<void> | void): Promise<void> {
      const { mailboxes, dispatcher } = server.context
      await vi.waitFor(
        async () => {
          mailboxes.anyDue()
          await mailboxes.poll(working.signal)
          await dispatcher.poll(working.signal)
          await check()
        },
        { timeout: 60_000, interval: 20 },
      )
    },
  }
}
