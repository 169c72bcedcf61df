/** Recorded asynchronous exchanges: each request, its acknowledgement, its callbacks, and what its status says. */
import { KINDS } from '@rollcall/protocol'
import { expect, vi } from 'vitest'
import { multipartBody, uploadParts } from '../../../engine/test/multipart.ts'
import { byExpression, byIdentifier, callbacksTo, searchFor } from '../asynchronous.ts'
import { bearer, post, searchRequest } from '../server.ts'
import { csvOf, envelopeOf, itemOf, UPLOAD_TYPE } from '../uploading.ts'
import { masked, recorded } from './masks.ts'
import type { World } from './world.ts'

interface Conversation {
  readonly name: string
  readonly namespace: string
  readonly transaction_id: string
  readonly body: string | object | Buffer
}

/** Holds every conversation, and returns it as it is recorded, by its name. */
export async function conversations(world: World): Promise<object> {
  const result: Record<string, unknown> = {}
  for (const one of all(world)) result[one.name] = await converse(world, one)
  return result
}

function all({ plain, identifier }: World): readonly Conversation[] {
  const { type, value } = identifier
  const request = (name: string, items: readonly object[], namespace = 'civil', header: object = {}) => {
    const transaction_id = `tx-${name.replaceAll(' ', '-')}`
    const body = searchFor(plain, items, { message: { transaction_id }, header })
    return { name, namespace, transaction_id, body }
  }
  const upload = (name: string, fileFormat: string, file: string, envelope: object | null): Conversation => ({
    name,
    namespace: 'civil',
    transaction_id: `tx-${name.replaceAll(' ', '-')}`,
    body: multipartBody(uploadParts({ fileFormat, file, envelope })),
  })
  const about = (name: string) => ({ message: { transaction_id: `tx-${name.replaceAll(' ', '-')}` } })
  const ndjson = [itemOf('n-1', value), itemOf('n-2')].map((item) => JSON.stringify(item)).join('\n')
  const csv = csvOf([[type, value]])
  const whole = searchRequest(plain.sender_id, identifier, about('whole file'))
  return [
    request('one identifier', [byIdentifier(type, value)]),
    request('a bad item among good ones', [
      byIdentifier(type, value),
      byExpression({ shoe_size: { eq: 9 } }),
      byIdentifier(type, 'nobody'),
    ]),
    ...KINDS.map(({ name }) =>
      request(`pages of ${name}`, [byExpression({ registration_date: { lt: '2100' } }, { pagination: { page_size: 10 } })], name),
    ),
    request('an address of its own', [byIdentifier(type, value)], 'civil', {
      sender_uri: `${plain.receiver.url}/mine/on-search`,
    }),
    upload('whole file', 'json', JSON.stringify(whole), null),
    upload('lines', 'ndjson', ndjson, envelopeOf(ndjson, about('lines'), plain.sender_id)),
    upload('rows', 'csv', csv, envelopeOf(csv, about('rows'), plain.sender_id)),
  ]
}

async function converse(world: World, { namespace, transaction_id, body }: Conversation): Promise<object> {
  const { server, plain } = world
  const base = `${server.url}/${namespace}/v1.0.0/registry`
  const ack = await post(`${base}/search`, body instanceof Buffer ? new Uint8Array(body) : body, {
    ...bearer(plain),
    ...(body instanceof Buffer && { 'Content-Type': UPLOAD_TYPE }),
  })
  const { correlation_id } = ack.body.message
  await answered(world, correlation_id)
  const callbacks = callbacksTo(plain.receiver)
    .filter(({ envelope }) => envelope.message.correlation_id === correlation_id)
    .map(({ path, envelope }) => ({ path, envelope: masked(envelope) }))
  const asked = async (attribute_type: string, attribute_value: string | readonly string[]) =>
    recorded(await post(`${base}/sync/txn/status`, statusOf(plain.sender_id, attribute_type, attribute_value), bearer(plain)))
  return {
    ack: recorded(ack),
    callbacks,
    'by transaction_id': await asked('transaction_id', transaction_id),
    'by correlation_id': await asked('correlation_id', correlation_id),
    'by reference_id_list': await asked('reference_id_list', ['r-0', 'nobody']),
  }
}

/** Waits until the exchange is answered and all of its callbacks are taken. */
export async function answered({ server }: Pick<World, 'server'>, correlation_id: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { rows } = await server.database.db.pool.query(
        `select state, (select count(*) from delivery
           where correlation_id = exchange.correlation_id and state <> 'delivered') as open
         from accepted_exchange as exchange where correlation_id = $1`,
        [correlation_id],
      )
      expect(rows).toEqual([{ state: 'replied', open: 0 }])
    },
    { timeout: 60_000 },
  )
}

function statusOf(sender_id: string, attribute_type: string, attribute_value: string | readonly string[]) {
  const { header } = searchRequest(sender_id, {}, { header: { action: 'txn-status' } })
  const txnstatus_request = { reference_id: 'q-1', txn_type: 'search', attribute_type, attribute_value }
  return { header, message: { transaction_id: 'tx-question', txnstatus_request } }
}
