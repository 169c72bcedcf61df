/** Callbacks as a registry sends them, signed by code that shares nothing with the client. */
import { randomUUID } from 'node:crypto'
import type { Jwk } from '@rollcall/protocol'
import { keyPair } from '../../core/test/key-pairs.ts'
import { bodyText, type Changes, type Signer, signature, type Unsigned } from '../../delivery/test/stranger/signing.ts'
import { decrypt, encrypt } from '../../server/test/stranger/encryption.ts'
import { type Handlers, type Peer, type Received, Receiver, type ReceiverOptions, type Rejected } from '../src/index.ts'

export { decrypt, encrypt }

const pair = keyPair('Ed25519')
export const SIGNER: Signer = { kid: 'k-1', algorithm: 'EdDSA', privateJwk: pair.privateJwk }
export const CIVIL: Peer = { sender_id: 'civil.example', keys: { keys: [{ ...pair.jwk, kid: 'k-1', use: 'sig' } as Jwk] } }

/** A receiver of one registry. */
export const receiver = (options: Partial<ReceiverOptions> = {}): Receiver =>
  new Receiver({ peers: [CIVIL], receiver_id: 'sp.example', ...options })

const now = (): string => new Date().toISOString()

interface CallbackChanges {
  readonly header?: object
  readonly message?: object
}

function callback(action: string, message: object, changes: CallbackChanges): Unsigned {
  return {
    header: {
      version: '1.0.0',
      message_id: `m-${randomUUID()}`,
      message_ts: now(),
      action,
      status: 'succ',
      sender_id: 'civil.example',
      receiver_id: 'sp.example',
      is_msg_encrypted: false,
      ...changes.header,
    },
    message: { transaction_id: 'tx-1', ...message, ...changes.message },
  }
}

export const onSearch = (changes: CallbackChanges = {}): Unsigned =>
  callback(
    'on-search',
    {
      correlation_id: 'c-1',
      search_response: [{ reference_id: '1', timestamp: now(), status: 'succ', data: { reg_records: [{ a: 1 }] } }],
    },
    changes,
  )

export const onSubscribe = (changes: CallbackChanges = {}): Unsigned =>
  callback(
    'on-subscribe',
    {
      correlation_id: 'c-1',
      subscribe_response: [
        {
          reference_id: '1',
          timestamp: now(),
          status: 'succ',
          subscriptions: [{ code: 'S-1', status: 'subscribe', timestamp: now() }],
        },
      ],
    },
    changes,
  )

export const onUnsubscribe = (changes: CallbackChanges = {}): Unsigned =>
  callback('on-unsubscribe', { correlation_id: 'c-1', timestamp: now(), status: 'succ' }, changes)

export const onStatus = (changes: CallbackChanges = {}): Unsigned =>
  callback(
    'txn-on-status',
    {
      correlation_id: 'c-1',
      txnstatus_response: {
        txn_type: 'search',
        txn_status: {
          transaction_id: 'tx-0',
          correlation_id: 'c-0',
          search_response: [{ reference_id: '1', timestamp: now(), status: 'pdng' }],
        },
      },
    },
    changes,
  )

export const notify = (changes: CallbackChanges = {}, records: unknown = { a: 1 }): Unsigned =>
  callback(
    'notify',
    {
      notify_event: [
        {
          reference_id: '1',
          timestamp: now(),
          data: { reg_event_type: 'Death', reg_record_type: 'Person', reg_records: records },
        },
      ],
    },
    changes,
  )

/** The body, signed. */
export const signed = (envelope: Unsigned, changes: Changes = {}, signer = SIGNER): string =>
  bodyText(envelope, signature(envelope, signer, undefined, changes))

/** A request as it comes to `handle`. */
export function request(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  {
    path = '/callbacks/registry/on-search',
    method = 'POST',
    headers = {},
  }: { path?: string; method?: string; headers?: Record<string, string> } = {},
): Request {
  return new Request(`https://sp.example${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(method === 'POST' && { body, duplex: 'half' }),
  } as RequestInit)
}

/** The answer that the peer gets. */
export async function told(response: Response) {
  // biome-ignore lint/suspicious/noExplicitAny: the shape of acks is what the tests are about
  const body = (await response.json()) as any
  return { status: response.status, headers: response.headers, body, ack: body.message }
}

/** Handlers that keep what they get. */
export function keeping() {
  const got: (Received | Rejected)[] = []
  const keep = (callback: Received | Rejected): void => void got.push(callback)
  const names = ['on-search', 'on-subscribe', 'on-unsubscribe', 'txn-on-status', 'notify', 'rejected']
  const handlers = Object.fromEntries(names.map((name) => [name, keep])) as Handlers
  return { got, handlers }
}

/** The answer of a receiver to the peer that sends this. */
export const sent = async (to: Receiver, ...args: Parameters<typeof request>) => told(await to.handle(request(...args)))
