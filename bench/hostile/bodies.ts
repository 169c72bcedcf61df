/** Large bodies, as rows: what is in each, and which participant sends it. At full size each is 6 to 8 MB. */
import { randomUUID } from 'node:crypto'
import { PROTOCOL_VERSION } from '@rollcall/protocol'
import { REGISTRY_SENDER } from '../search/question.ts'

export interface Shape {
  readonly name: string
  /** The policy of the participant who sends the body. */
  readonly policy: 'required' | 'if-present'
  readonly path: 'registry/sync/search' | 'registry/search'
  /** The HTTP status that it is answered with, as long as no quota is used up. */
  readonly status: number
  /** Makes bodies, the part of their full size that `size` says; each anew where it is valid, so that none is a repetition. */
  bodies(size: number): (sender_id: string, sender_uri: string) => string
}

const ITEMS = 10_000

const header = (sender_id: string, sender_uri: string, total_count: number, meta = '{}'): string =>
  `{"version":"${PROTOCOL_VERSION}","message_id":"${randomUUID()}","message_ts":"${new Date().toISOString()}",` +
  `"action":"search","sender_id":"${sender_id}","sender_uri":"${sender_uri}","receiver_id":"${REGISTRY_SENDER}","total_count":${total_count},"meta":${meta}}`

const withMeta = (made: (size: number) => string) => (size: number) => {
  const meta = made(size)
  return (sender_id: string, sender_uri: string) =>
    `{"header":${header(sender_id, sender_uri, ITEMS, meta)},"message":{"transaction_id":"t"}}`
}

const purpose = { text: 'benefit', code: 'B', ref_uri: 'https://purpose.example/b' }
/** An item with all members that are used in practice: page, consent and authorization too. */
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
const batch =
  (signature = (_sender_id: string) => '') =>
  (size: number) => {
    const count = Math.ceil(ITEMS * size)
    const items = JSON.stringify(Array.from({ length: count }, (_, index) => item(index)))
    return (sender_id: string, sender_uri: string): string =>
      `{"signature":"${signature(sender_id)}","header":${header(sender_id, sender_uri, count)},` +
      `"message":{"transaction_id":"${randomUUID()}","search_request":${items}}}`
  }

const wrong = (sender_id: string): string => {
  const created = Math.floor(Date.now() / 1_000)
  const times = `created=\\"${created}\\", expires=\\"${created + 300}\\"`
  return (
    `namespace=\\"registry\\", kidId=\\"${sender_id}|k-1|ed25519\\", algorithm=\\"ed25519\\", ${times}, ` +
    `headers=\\"(created) (expires) digest\\", signature=\\"${Buffer.alloc(64, 7).toString('base64')}\\"`
  )
}

const repeated = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(',')
const names = (size: number): string => `{${repeated(500_000 * size, (index) => `"n${index}":1`)}}`
const nested = (size: number): string => `[${repeated(60_000 * size, () => `${'['.repeat(59)}${']'.repeat(59)}`)}]`
const ones = (size: number): string => `[${'[1],'.repeat(1_999_000 * size)}1]`

const SYNC = 'registry/sync/search'

export const SHAPES: readonly Shape[] = [
  { name: '500,000 names in meta', policy: 'required', path: SYNC, status: 400, bodies: withMeta(names) },
  { name: 'arrays nested 59 deep', policy: 'required', path: SYNC, status: 400, bodies: withMeta(nested) },
  { name: '[1], two million times', policy: 'required', path: SYNC, status: 400, bodies: withMeta(ones) },
  { name: '10,000 items, unsigned', policy: 'required', path: SYNC, status: 401, bodies: batch() },
  { name: '10,000 items, signed wrongly', policy: 'required', path: SYNC, status: 401, bodies: batch(wrong) },
  { name: '10,000 items, valid, synchronous', policy: 'if-present', path: SYNC, status: 200, bodies: batch() },
  { name: '10,000 items, valid, asynchronous', policy: 'if-present', path: 'registry/search', status: 200, bodies: batch() },
]
