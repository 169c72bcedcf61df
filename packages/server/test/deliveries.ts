/** Deliveries for tests: a receiver on loopback that answers as it is told, and deliveries without an exchange. */

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { type DeliveryClaim, deliveryBodyBinding, type NewDelivery, type StoredEnvelope } from '@rollcall/core/model/delivery'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { type JustStoredDelivery, newAttemptClaim } from '@rollcall/delivery/delivery/deliver'
import { callbackNamed, findCallbackTarget } from '@rollcall/delivery/delivery/targets'
import { insertDeliveriesSql } from '@rollcall/delivery/store/deliveries/deliveries'
import { createLog } from '@rollcall/observe/log'
import {
  type CallbackSettings,
  findCallbackSettings,
  setCallbackSettings,
} from '@rollcall/participants/store/participant-callbacks'
import { addParticipant, type ParticipantSettings } from '@rollcall/participants/store/participants'
import { canonicalJson } from '@rollcall/protocol'
import { addRegistry, findRegistry } from '@rollcall/records/registries/registries'
import { afterAll, afterEach } from 'vitest'
import { masterKeyOfRun, startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { skippingClock, type TestClock } from '../../observe/test/clock.ts'
import { grantEverything } from '../../participants/test/grants.ts'
import { type TestSettings, testConfig } from '../../settings/test/config.ts'
import type { Context } from '../src/app/context.ts'
import { createContext } from '../src/app/context.ts'

/** A sender of deliveries, without listeners and jobs. */
export interface TestSender {
  readonly context: Context
  readonly database: TestDatabase
  readonly registry: Registry
  /** The configuration of the sender. */
  readonly env: TestSettings
  /** The clock for the age of caches, for rates and for signatures; `pass` moves it. */
  readonly clock: TestClock
  /** Everything that was logged. */
  readonly logged: () => string
  close(): Promise<void>
}

/** Makes a sender. @param env variables and limits @param database one that the caller closes (default: a new one) */
export async function testSender(env: TestSettings = {}, database?: TestDatabase, clock = skippingClock()): Promise<TestSender> {
  const own = database ?? (await startedDatabase())
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const all = { ROLLCALL_MASTER_KEY: masterKeyOfRun(), ...env }
  const config = testConfig(all)
  const log = createLog({ level: 'debug', destination })
  const context = await createContext(config, own.db, { log, clock })
  const known = await findRegistry(own.db, 'civil')
  const registry = known ?? (await addRegistry(own.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' }))
  return {
    context,
    database: own,
    registry,
    env: all,
    clock,
    logged: () => lines.join(''),
    async close() {
      await context.limiter.idle()
      await context.guards.close()
      await context.auditLog.close()
      if (database === undefined) await own.close()
    },
  }
}

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver {
  readonly url: string
  readonly received: readonly Received[]
  /** The most requests that were open at the same time. */
  readonly most: () => number
  /** Answers the deliveries that come; a test may replace it. */
  answer: (response: ServerResponse, received: Received) => void
  close(): Promise<void>
}

export const ACK = JSON.stringify({ message: { ack_status: 'ACK' } })
export const answering =
  (status: number, body = ACK, headers: Readonly<Record<string, string>> = {}): Receiver['answer'] =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

export async function receiver(answer: Receiver['answer'] = answering(200)): Promise<Receiver> {
  const received: Received[] = []
  let inside = 0
  let most = 0
  const server = createServer(async (request, response) => {
    inside += 1
    most = Math.max(most, inside)
    response.on('close', () => (inside -= 1))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url: path = '', headers } = request
    const one = { path, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    peer.answer(response, one)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const peer: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    most: () => most,
    answer,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return peer
}

export const LOOPBACK = { host: '127.0.0.1', ports: 'any', plainHttp: true, loopback: true } as const

/** Adds a participant whose answers go to this address, with these settings. */
export async function takes(
  { database }: Pick<TestSender, 'database'>,
  sender_id: string,
  default_url: string | null,
  settings: Partial<CallbackSettings> = {},
  about: Partial<ParticipantSettings> = {},
  terms: Partial<GrantTerms> = {},
): Promise<Participant> {
  const given = { sender_id, name: sender_id, outgoing: [LOOPBACK], ...about }
  const participant = await addParticipant(database.db, given)
  await grantEverything(database, terms)
  await setCallbackSettings(database.db, participant.id, { default_url, ...settings })
  return participant
}

export interface SenderWithPeers {
  readonly sender: TestSender
  /** Starts a receiver, which is closed after the test. */
  newReceiver(answer?: Receiver['answer']): Promise<Receiver>
  /** Adds a participant whose default address is that of a new receiver. */
  newPeer(
    answer?: Receiver['answer'],
    settings?: Partial<CallbackSettings>,
  ): Promise<{ readonly peer: Receiver; readonly participant: Participant }>
}

/** A sender and receivers for the tests of one file, to be awaited at its top level; closed after them. */
export async function senderWithPeers(env: TestSettings = {}): Promise<SenderWithPeers> {
  const sender = await testSender(env)
  const open: Receiver[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((peer) => peer.close()))
    await sender.context.limiter.idle()
  })
  afterAll(() => sender.close())
  const newReceiver = async (answer?: Receiver['answer']): Promise<Receiver> => {
    const peer = await receiver(answer)
    open.push(peer)
    return peer
  }
  return {
    sender,
    newReceiver,
    async newPeer(answer, settings) {
      const peer = await newReceiver(answer)
      return { peer, participant: await takes(sender, `${randomUUID()}.example`, peer.url, settings) }
    },
  }
}

/** Stores a waiting delivery with an envelope of its own. With a claim, the caller is the one that attempts it. */
export async function newDelivery(
  { database, context, registry }: TestSender,
  participant: Participant,
  more: Partial<NewDelivery> & { readonly claim?: DeliveryClaim } = {},
): Promise<JustStoredDelivery['delivery'] & Pick<JustStoredDelivery, 'header' | 'message'>> {
  const { claim, ...changes } = more
  const settings = await findCallbackSettings(database.db, participant.id)
  const target = findCallbackTarget(settings, null, callbackNamed('on-search')) ?? 'http://127.0.0.1/'
  const id = randomUUID()
  const message_id = randomUUID()
  const header = {
    version: '1.0.0',
    message_id,
    message_ts: '2026-02-03T09:15:00.000Z',
    action: 'on-search',
    status: 'succ',
    total_count: 0,
    completed_count: 0,
    sender_id: registry.sender_id,
    receiver_id: participant.sender_id,
    meta: {},
  }
  const message = { transaction_id: 'tx-1', correlation_id: id, search_response: [] }
  const body = await context.bodies.encryptBody(canonicalJson({ header, message }), deliveryBodyBinding(id))
  const delivery = {
    id,
    participant: participant.id,
    registry: registry.id,
    correlation_id: null,
    callback: 'on-search',
    page: 1,
    message_id,
    target,
    encrypted: false,
    body: body as Uint8Array as StoredEnvelope,
    ...changes,
  }
  await addDeliveries(database.db.pool, [delivery], claim)
  return { ...delivery, header, message }
}

/** Inserts deliveries as replies and notifications do. @param claim given where the caller attempts them */
async function addDeliveries(
  db: Pick<TestDatabase['db']['pool'], 'query'>,
  deliveries: readonly NewDelivery[],
  claim: DeliveryClaim | null = null,
): Promise<void> {
  const of = (name: keyof NewDelivery): unknown[] => deliveries.map((delivery) => delivery[name])
  await db.query({
    name: 'add deliveries',
    text: insertDeliveriesSql(
      `(select *, $11::uuid as claim, $12::float8 as seconds, null::integer as granted, null::bigint as protection
        from unnest($1::uuid[], $2::integer[], $3::integer[], $4::uuid[], $5::text[], $6::integer[], $7::text[],
          $8::text[], $9::boolean[], $10::bytea[]) as given (id, participant, registry, correlation_id, callback, page,
          message_id, target, encrypted, body)) as new`,
      'new.page',
    ),
    values: [
      ...[of('id'), of('participant'), of('registry'), of('correlation_id'), of('callback'), of('page')],
      ...[of('message_id'), of('target'), of('encrypted'), of('body')],
      ...[claim?.id ?? null, claim?.seconds ?? null],
    ],
  })
}

/** A claim as a node makes it for an attempt. */
export const aClaim = (): DeliveryClaim => newAttemptClaim({ timeout_ms: 2_000 })

export interface Kept {
  readonly state: string
  readonly attempts: number
  readonly reason: string | null
  /** Seconds until the next attempt. */
  readonly wait: number | null
  readonly target: string | null
  readonly claimed: boolean
}

/** A delivery as the database has it. */
export async function kept({ database }: Pick<TestSender, 'database'>, id: string): Promise<Kept> {
  const { rows } = await database.db.pool.query<Kept>(
    `select state, attempts, reason, extract(epoch from next_attempt_at - now())::float8 as wait, target,
       claim is not null as claimed from delivery where id = $1`,
    [id],
  )
  const [row] = rows
  if (row === undefined) throw new Error('no such delivery')
  return row
}

export interface KeptAttempt {
  readonly number: number
  readonly status: number | null
  readonly error: string | null
  readonly answer: Buffer | null
}

export async function attemptsOf({ database }: Pick<TestSender, 'database'>, id: string): Promise<readonly KeptAttempt[]> {
  const { rows } = await database.db.pool.query<KeptAttempt>(
    'select number, status, error, answer from delivery_attempt where delivery = $1 order by number',
    [id],
  )
  return rows
}

/** Makes all pending deliveries of a participant due now. */
export async function dueNow({ database }: Pick<TestSender, 'database'>, participant: number): Promise<void> {
  await database.db.pool.query(`update delivery set next_attempt_at = now() where participant = $1 and state = 'pending'`, [
    participant,
  ])
}
