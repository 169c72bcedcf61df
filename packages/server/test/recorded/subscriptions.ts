/** Recorded subscriptions: requests to subscribe and to unsubscribe, their callbacks, and what their status says. */
import { KINDS } from '@rollcall/protocol'
import { callbacksTo } from '../asynchronous.ts'
import { bearer, post } from '../server.ts'
import { about, subscribeFor, TYPES, unsubscribeFor } from '../subscribing.ts'
import { question } from '../txn-status.ts'
import { answered } from './asynchronous.ts'
import { masked, recorded } from './masks.ts'
import type { World } from './world.ts'

const FREQUENCY = { start_time: '2026-02-03T00:00:00Z', end_time: '2099-02-03T00:00:00Z', frequency: '0 0 0 5,15 * ? *' }

/** Items that are rejected, each with a code of its own. */
const REJECTED: Readonly<Record<string, object>> = {
  'an event of another kind': about('U-1', { reg_event_type: 'left_the_country' }),
  'a record of another kind': about('U-1', { notify_record_type: 'Farmer' }),
  'an identifier of an unknown type': about('U-1', { filter: { type: 'PASSPORT', value: 'P-1' } }),
  'an attribute that is none': about('U-1', { filter: { shoe_size: 43 } }),
  'no filter': { ...TYPES.civil },
  'a tick each second': about('U-1', { frequency: { ...FREQUENCY, frequency: '* * * * * *' } }),
}

/** Holds every conversation, and returns it as it is recorded, by its name. */
export async function subscriptions(world: World): Promise<object> {
  const result: Record<string, unknown> = {}
  const { plain } = world
  for (const { name } of KINDS) {
    const item = { subscribe_criteria: about('U-44', {}, name), locale: 'eng' }
    const first = await converse(world, name, subscribeFor(plain, [item]))
    const { code } = first.message.subscribe_response[0].subscriptions[0]
    result[`a subscription in ${name}`] = first.recorded
    result[`the same again in ${name}`] = (await converse(world, name, subscribeFor(plain, [item]))).recorded
    const end = () => unsubscribeFor(plain, [code, 'NO-SUCH'])
    result[`its end in ${name}`] = (await converse(world, name, end())).recorded
    result[`its end again in ${name}`] = (await converse(world, name, end())).recorded
  }
  const held = subscribeFor(plain, [about('U-45', { frequency: FREQUENCY })])
  result['a frequency'] = (await converse(world, 'civil', held)).recorded
  const rejected = subscribeFor(plain, Object.values(REJECTED))
  result[`rejected: ${Object.keys(REJECTED).join(', ')}`] = (await converse(world, 'civil', rejected)).recorded
  return result
}

async function converse(
  { server, plain }: World,
  namespace: string,
  body: ReturnType<typeof subscribeFor> | ReturnType<typeof unsubscribeFor>,
) {
  const base = `${server.url}/${namespace}/v1.0.0/registry`
  const { action: txn_type } = body.header
  const message = { ...body.message, transaction_id: 'tx-recorded' }
  const ack = await post(`${base}/${txn_type}`, { ...body, message }, bearer(plain))
  const { correlation_id } = ack.body.message
  await answered({ server }, correlation_id)
  const callbacks = callbacksTo(plain.receiver).filter(({ envelope }) => envelope.message.correlation_id === correlation_id)
  const asked = question(plain, 'correlation_id', correlation_id, { txn_type })
  return {
    message: callbacks[0]?.envelope.message,
    recorded: {
      ack: recorded(ack),
      callbacks: callbacks.map(({ path, envelope }) => ({ path, envelope: masked(envelope) })),
      status: recorded(await post(`${base}/sync/txn/status`, asked, bearer(plain))),
    },
  }
}
