/** Large bodies, as rows: what is in each, and which participant sends it. Each is under 8 MB. */
import { randomUUID } from 'node:crypto'
import { PROTOCOL_VERSION } from '@rollcall/protocol'
import { REGISTRY_SENDER } from '../search/question.ts'

export interface Shape {
  readonly name: string
  /** Of the participant who sends it. */
  readonly policy: 'required' | 'if-present'
  readonly path: 'registry/sync/search' | 'registry/search'
  /** The HTTP status that it is answered with, as long as no quota is used up. */
  readonly status: number
  /** Made anew for each request where it is valid, so that none is a repetition. */
  body(sender_id: string, sender_uri: string): string
}

const ITEMS = 10_000

const header = (sender_id: string, sender_uri: string, meta = '{}'): string =>
  `{"version":"${PROTOCOL_VERSION}","message_id":"${randomUUID()}","message_ts":"${new Date().toISOString()}",` +
  `"action":"search","sender_id":"${sender_id}","sender_uri":"${sender_uri}","receiver_id":"${REGISTRY_SENDER}","total_count":${ITEMS},"meta":${meta}}`

const withMeta = (meta: string) => (sender_id: string, sender_uri: string) =>
  `{"header":${header(sender_id, sender_uri, meta)},"message":{"transaction_id":"t"}}`

const purpose = { text: 'benefit', code: 'B', ref_uri: 'https://purpose.example/b' }
/** As full as an item is in practice: with page, consent and authorization. */
const item = (index: number): object => ({
  reference_id: `r-${index}`,
  timestamp: '2026-02-03T09:15:00Z',
  search_criteria: {
    version: PROTOCOL_VERSION,
    reg_type: 'civil',
    query_type: 'idtype-value',
    query: { type: 'UIN', value: `nobody-${index}` },
    pagination: { page_size: 10, page_number: 1 },
    consent: { ts: '2026-02-03T09:15:00Z', purpose },
    authorize: { ts: '2026-02-03T09:15:00Z', purpose },
  },
  locale: 'eng',
})
const items = JSON.stringify(Array.from({ length: ITEMS }, (_, index) => item(index)))
const batch =
  (signature = '') =>
  (sender_id: string, sender_uri: string): string =>
    `{"signature":"${signature}","header":${header(sender_id, sender_uri)},` +
    `"message":{"transaction_id":"${randomUUID()}","search_request":${items}}}`

const wrong = (sender_id: string, sender_uri: string): string => {
  const created = Math.floor(Date.now() / 1_000)
  const times = `created=\\"${created}\\", expires=\\"${created + 300}\\"`
  const made =
    `namespace=\\"registry\\", kidId=\\"${sender_id}|k-1|ed25519\\", algorithm=\\"ed25519\\", ${times}, ` +
    `headers=\\"(created) (expires) digest\\", signature=\\"${Buffer.alloc(64, 7).toString('base64')}\\"`
  return batch(made)(sender_id, sender_uri)
}

const names = Array.from({ length: 500_000 }, (_, index) => `"n${index}":1`).join(',')
const nested = Array.from({ length: 60_000 }, () => `${'['.repeat(59)}${']'.repeat(59)}`).join(',')

const SYNC = 'registry/sync/search'

export const SHAPES: readonly Shape[] = [
  { name: '500,000 names in meta', policy: 'required', path: SYNC, status: 400, body: withMeta(`{${names}}`) },
  { name: 'arrays nested 59 deep', policy: 'required', path: SYNC, status: 400, body: withMeta(`[${nested}]`) },
  {
    name: '[1], two million times',
    policy: 'required',
    path: SYNC,
    status: 400,
    body: withMeta(`[${'[1],'.repeat(1_999_000)}1]`),
  },
  { name: '10,000 items, unsigned', policy: 'required', path: SYNC, status: 401, body: batch() },
  { name: '10,000 items, signed wrongly', policy: 'required', path: SYNC, status: 401, body: wrong },
  { name: '10,000 items, valid, synchronous', policy: 'if-present', path: SYNC, status: 200, body: batch() },
  {
    name: '10,000 items, valid, asynchronous',
    policy: 'if-present',
    path: 'registry/search',
    status: 200,
    body: batch(),
  },
]
