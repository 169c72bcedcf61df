/** Asynchronous exchanges for tests: a participant with a receiver of callbacks, its requests, and what it was sent. */

import { randomUUID } from 'node:crypto'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import { findWaitingParticipants } from '@rollcall/delivery/store/deliveries/deliveries'
import { answerAccepted } from '@rollcall/engine/exchange/answer-accepted'
import { findAcceptedExchange } from '@rollcall/engine/store/exchanges/accepted-exchanges'
import { claimExchanges } from '@rollcall/engine/store/exchanges/claims'
import { type CallbackSettings, setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { findParticipant, type ParticipantSettings } from '@rollcall/participants/store/participants'
import { afterAll, expect } from 'vitest'
import { drainParticipant } from '../../delivery/src/delivery/drain-participant.ts'
import type { TestSettings } from '../../settings/test/config.ts'
import { LOOPBACK, type Receiver, receiver } from './deliveries.ts'
import { bearer, post, searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

export interface AsyncPeer extends TestParticipant {
  readonly id: number
  readonly receiver: Receiver
}

export interface AsyncServer {
  readonly server: TestServer
  readonly registry: Registry
  /** A new participant with a receiver of its own (`asyncPeer`). */
  newPeer(settings?: Partial<ParticipantSettings>, terms?: Partial<GrantTerms>): Promise<AsyncPeer>
}

/**
 * A server for the tests of one file, to be awaited at its top level; it is closed after them, with all receivers.
 * @param documents of the registry `civil`
 * @param env limits and switches, as environment variables
 */
export async function asyncServer(documents: readonly object[] = [], env: TestSettings = {}): Promise<AsyncServer> {
  const server = await testServer(env)
  afterAll(() => server.close())
  const registry = await server.registry('civil', documents)
  let count = 0
  return { server, registry, newPeer: (settings, terms) => asyncPeer(server, `peer-${count++}.example`, settings, terms) }
}

/** Adds a participant that may leave messages unsigned, and gets its answers at a receiver of its own. */
export async function asyncPeer(
  server: TestServer,
  sender_id: string,
  settings: Partial<ParticipantSettings> = {},
  terms: Partial<GrantTerms> = {},
): Promise<AsyncPeer> {
  const added = await server.participant(sender_id, { outgoing: [LOOPBACK], ...settings }, terms)
  return withReceiver(server, added)
}

/** Gives a participant a receiver of callbacks, which is closed with the server. */
export async function withReceiver<Participant extends TestParticipant>(
  server: TestServer,
  participant: Participant,
): Promise<Participant & AsyncPeer> {
  const found = await findParticipant(server.database.db, participant.sender_id)
  if (found === null) throw new Error('no such participant')
  const taking = await receiver()
  server.closing(taking)
  await setCallbackSettings(server.database.db, found.id, {
    default_url: taking.url,
    allowed: [`${taking.url}/mine`],
    rate: 10_000,
  })
  return { ...participant, id: found.id, receiver: taking }
}

/** Lets a participant, whose `outgoing` has LOOPBACK, be answered at any port of this machine that it names. */
export async function allowLoopback(
  { database }: TestServer,
  { sender_id }: TestParticipant,
  settings: Partial<CallbackSettings> = {},
): Promise<void> {
  const found = await findParticipant(database.db, sender_id)
  if (found === null) throw new Error('no such participant')
  const allowed = ['http://127.0.0.1:*']
  await setCallbackSettings(database.db, found.id, { allowed, rate: 10_000, ...settings })
}

/** Makes one item of a search for an identifier. */
export const byIdentifier = (type: string, value: string, criteria: object = {}) => ({
  search_criteria: { query_type: 'idtype-value', query: { type, value }, ...criteria },
})

export const byExpression = (query: object, criteria: object = {}) => ({
  search_criteria: { query_type: 'expression', query, ...criteria },
})

/** The envelope of a search with these items, named r-0, r-1 ... */
export function searchFor(
  by: TestParticipant,
  items: readonly object[],
  { header = {}, message = {} }: { header?: object; message?: object } = {},
) {
  const timestamp = new Date().toISOString()
  const search_request = items.map((item, index) => ({ reference_id: `r-${index}`, timestamp, ...item }))
  return searchRequest(
    by.sender_id,
    {},
    { header: { total_count: 0, message_ts: timestamp, ...header }, message: { search_request, ...message } },
  )
}

/** Sends an asynchronous request, which must be accepted. Returns the correlation_id of its ack. */
export async function accepted(
  server: TestServer,
  by: TestParticipant,
  body: string | object,
  path = 'search',
  namespace = 'civil',
): Promise<string> {
  const answer = await post(`${server.url}/${namespace}/v1.0.0/registry/${path}`, body, bearer(by))
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ message: { ack_status: 'ACK' } })
  expect(answer.status).toBe(200)
  return answer.body.message.correlation_id
}

// The shapes of callbacks are what the tests are about; naming them here would hide what is asserted.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Callback = { readonly path: string; readonly envelope: any }

/** The callbacks that a receiver got, in the order in which they came. */
export const callbacksTo = ({ received }: Receiver): readonly Callback[] =>
  received.map(({ path, body }) => ({ path, envelope: JSON.parse(body) }))

/**
 * Answers one accepted exchange, as a node does that has claimed it. One that is answered already stays as it is.
 * @param runs how often it was claimed since its last page, this time included
 * @throws what would be tried again
 */
export async function answerExchange(
  { context, database }: Pick<TestServer, 'context' | 'database'>,
  id: string,
  { runs = 1, signal }: { readonly runs?: number; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const claim = randomUUID()
  const { rowCount } = await database.db.pool.query(
    `with begun as (
        update accepted_exchange set started_at = now()
        where correlation_id = (select parent from accepted_exchange where correlation_id = $1) and started_at is null
      )
      update accepted_exchange set claim = $2, claimed_until = now() + interval '1 minute', runs = $3,
        started_at = coalesce(started_at, now())
      where correlation_id = $1 and state in ('accepted', 'replying')`,
    [id, claim, runs],
  )
  const found = rowCount === 1 ? await findAcceptedExchange(database.db, id) : null
  if (found !== null) await answerAccepted(context, { ...found, claim, runs }, signal)
}

/** Answers everything that was accepted, and attempts every delivery that is due, until nothing is left to do. */
export async function deliverAll({ context, database }: Pick<TestServer, 'context' | 'database'>): Promise<void> {
  const { db } = database
  const slots = { free: 100, share: 100, reserve: 0, large: 100, batches: 100, batchShare: 100 }
  for (;;) {
    const claimed = await claimExchanges(db.claims, { id: randomUUID(), seconds: 60 }, slots, [])
    if (claimed.length === 0) break
    for (const exchange of claimed) await answerAccepted(context, exchange)
  }
  await context.limiter.idle()
  for (const participant of await findWaitingParticipants(db)) await drainParticipant(context, participant)
  await context.limiter.idle()
}
