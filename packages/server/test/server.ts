/** A real server on real PostgreSQL for tests: loopback HTTP, a few registries, two participants. */

import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import type { Environment } from '@rollcall/core/model/environment'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import { createLog } from '@rollcall/observe/log'
import { newSecret } from '@rollcall/participants/directory/secrets'
import { addSecret } from '@rollcall/participants/store/client-secrets'
import { addParticipant, type ParticipantSettings } from '@rollcall/participants/store/participants'
import { recordTypesOf } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { writeRecords } from '@rollcall/records/records/record-writer'
import { addRegistry } from '@rollcall/records/registries/registries'
import { databaseWithJournal } from '@rollcall/settings/storage'
import { generate } from '@rollcall/synthetic'
import { masterKeyOfRun, startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { skippingClock, type TestClock } from '../../observe/test/clock.ts'
import { grantEverything } from '../../participants/test/grants.ts'
import { type TestSettings, testConfig } from '../../settings/test/config.ts'
import type { Context } from '../src/app/context.ts'
import { createContext } from '../src/app/context.ts'
import { type RunningServer, startServer } from '../src/app/serve.ts'

export interface TestParticipant {
  readonly sender_id: string
  readonly client_id: string
  readonly secret: string
  readonly token: string
}

export interface TestServer {
  readonly url: string
  readonly adminUrl: string
  readonly context: Context
  readonly database: TestDatabase
  readonly running: RunningServer
  /** The clock for the age of caches, keys and tokens, and for the times of searches; `pass` moves it. */
  readonly clock: TestClock
  /** Everything the server has logged, at level debug. */
  readonly logged: () => string
  /**
   * Adds a participant with a secret and a live token. Unless `settings` and `terms` say otherwise, it may leave
   * messages unsigned, and everything but subscriptions without a filter is granted to it in every registry.
   */
  participant(sender_id: string, settings?: Partial<ParticipantSettings>, terms?: Partial<GrantTerms>): Promise<TestParticipant>
  /** Adds a registry of this kind with these documents; its namespace is the name of the kind by default. */
  registry(
    kind: string,
    documents?: readonly object[],
    namespace?: string,
    environment?: Environment,
    own_records?: boolean,
  ): Promise<Registry>
  /** Has this peer closed before the server, so that the server waits for no answer of it. */
  closing(peer: { close(): Promise<void> }): void
  close(): Promise<void>
}

/** The master key of test databases. */
export const MASTER_KEY = masterKeyOfRun()

/** Parts of a server without regular background tasks: every statement is caused by a message. */
export const QUIET = { housekeeping: () => async () => undefined } as const

const UNSIGNED = { signature_policy: 'if-present', allow_unsigned: true } as const

/**
 * Starts a node that answers; it works on no accepted request unless `ROLLCALL_ROLE` says otherwise.
 * @param env variables and limits
 * @param clock one that stands still (`testClock`) where it matters what is read anew; else the real one
 * @param deps of the node, such as `QUIET`
 */
export async function testServer(
  env: TestSettings = {},
  clock: TestClock = skippingClock(),
  deps: Parameters<typeof startServer>[2] = {},
): Promise<TestServer> {
  const database = await startedDatabase()
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const config = testConfig({
    PORT: '0',
    ADMIN_PORT: '0',
    ROLLCALL_ROLE: 'http',
    ROLLCALL_MASTER_KEY: MASTER_KEY,
    ...env,
    limits: { drain_time: 0, ...env.limits },
  })
  const peers: { close(): Promise<void> }[] = []
  const context = await createContext(config, databaseWithJournal(config, database.db), {
    log: createLog({ level: 'debug', destination }),
    clock,
    samples: (kind, identifier_types = {}) => generate(kind, { count: 100, seed: 'test', identifier_types }),
  })
  const running = await startServer(config, context, deps)
  running.markReady()
  const url = `http://127.0.0.1:${running.port}`
  return {
    url,
    adminUrl: `http://127.0.0.1:${running.adminPort}`,
    context,
    database,
    running,
    clock,
    logged: () => lines.join(''),
    async participant(sender_id, settings = {}, terms = {}) {
      const added = await addParticipant(database.db, {
        sender_id,
        name: sender_id,
        ...(settings.signature_policy === undefined && UNSIGNED),
        ...settings,
      })
      const { secret, sha256 } = newSecret()
      await addSecret(database.db, added, sha256)
      await grantEverything(database, terms)
      const { access_token } = await context.tokens.issue(added)
      return { sender_id, client_id: added.client_id, secret, token: access_token }
    },
    async registry(kind, documents = [], namespace = kind, environment = 'live', own_records = true) {
      const sender_id = `${namespace}.example`
      const registry = await addRegistry(database.db, { namespace, kind, sender_id, environment, own_records })
      await grantEverything(database)
      await writeDocuments(database, registry, documents)
      return registry
    },
    closing: (peer) => void peers.push(peer),
    async close() {
      await Promise.all(peers.map((peer) => peer.close()))
      await running.stop()
      await database.close()
    },
  }
}

/** Writes records into a registry: new ones, or in place of those with the same primary identifier. */
export async function writeDocuments(
  { db }: Pick<TestDatabase, 'db'>,
  registry: Registry,
  documents: readonly object[],
): Promise<void> {
  const client = await db.pool.connect()
  try {
    await client.query('begin')
    for (const document of documents) {
      const [recordType] = recordTypesOf(registry.kind, document)
      if (recordType === undefined) throw new Error(`no record type of ${registry.kind.name}`)
      // A document of a test is plain JSON.
      const prepared = prepareRecord(registry.kind, recordType, document as never)
      await writeRecords(client, registry, recordType, [prepared])
    }
    await client.query('commit')
  } finally {
    client.release()
  }
}

/** A valid search message for one identifier, which tests change. */
export function searchRequest(
  sender_id: string,
  query: object,
  changes: { header?: object; message?: object; item?: object; criteria?: object } = {},
) {
  return {
    header: {
      version: '1.0.0',
      message_id: `m-${randomUUID()}`,
      message_ts: '2026-02-03T09:15:00.000Z',
      action: 'search',
      sender_id,
      total_count: 1,
      is_msg_encrypted: false,
      meta: {},
      ...changes.header,
    },
    message: {
      transaction_id: 'tx-1',
      search_request: [
        {
          reference_id: 'r-1',
          timestamp: '2026-02-03T09:15:00.000Z',
          search_criteria: { query_type: 'idtype-value', query, ...changes.criteria },
          ...changes.item,
        },
      ],
      ...changes.message,
    },
  }
}

/** Posts a batch of search items, each named r-0, r-1 ... and dated now unless it says otherwise. */
export async function postSearch(
  server: TestServer,
  by: TestParticipant,
  items: readonly object[],
  namespace = 'civil',
): Promise<Answer> {
  const timestamp = new Date().toISOString()
  const search_request = items.map((item, index) => ({ reference_id: `r-${index}`, timestamp, ...item }))
  const request = searchRequest(by.sender_id, {}, { header: { total_count: 0 }, message: { search_request } })
  return post(`${server.url}/${namespace}/v1.0.0/registry/sync/search`, request, bearer(by))
}

/** An answer: its status, its headers, and its body, parsed if it is JSON. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // The shapes of answers are what the tests are about; naming them here would hide what is asserted.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

export async function post(
  url: string,
  body: string | Uint8Array<ArrayBuffer> | object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)
  const response = await fetch(url, { method: 'POST', body: raw, headers: { 'Content-Type': 'application/json', ...headers } })
  return answerOf(response)
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

/** A bearer header. */
export const bearer = (participant: TestParticipant): { Authorization: string } => ({
  Authorization: `Bearer ${participant.token}`,
})
