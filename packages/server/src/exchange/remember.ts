/** Remembers a message before anything is done about it, so that a retry is known as one (D27). */
import { HeaderRejection, type JsonObject } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../model/exchange.ts'
import { exchangeFingerprint } from '../shared/fingerprint.ts'
import { isStorable } from '../store/db/text.ts'
import type { AcceptedRequest } from '../store/exchanges/exchanges.ts'
import { withinDay } from './within-day.ts'

/**
 * The exchange under the correlation_id that its message has: of the same message sent again, the first one's.
 * A synchronous read is answered anew then, under the rights of today; what is answered later is accepted once.
 * @param message opened, where it was encrypted
 * @param path of the operation; the same message on another path is another message
 * @param accepted given when it is answered later: makes what is kept in the same statement
 * @throws HeaderRejection rjct.message_id.duplicate
 * @throws RequestFault 429 err.request.too_many_requests, of what is answered later
 */
export async function remember(
  context: Context,
  exchange: Exchange,
  message: JsonObject,
  path: string,
  accepted?: () => Promise<AcceptedRequest>,
): Promise<Exchange> {
  const { header, registry, operation } = exchange
  const key = {
    correlation_id: exchange.correlation_id,
    participant: exchange.participant.id,
    message_id: header.message_id,
    fingerprint: exchangeFingerprint({ header, message, namespace: registry.namespace, path }),
  }
  const { exchanges } = context
  const row = {
    ...key,
    registry: registry.id,
    operation: operation.name,
    transaction_id: transactionId(message),
  }
  const { known, correlation_id } =
    accepted === undefined
      ? await exchanges.remember(row)
      : await withinDay(context, 'accepted', key.participant, {
          keep: async () => exchanges.remember({ ...row, accepted: await accepted() }),
          known: () => exchanges.known(key),
        })
  if (known === 'different') {
    throw new HeaderRejection(
      'rjct.message_id.duplicate',
      'header.message_id: was used before for another message',
    )
  }
  return { ...exchange, correlation_id }
}

const LONGEST = 99

/** As it can be asked for later: the message is not checked yet, and a number counts by its digits (3.1). */
function transactionId({ transaction_id }: JsonObject): string | null {
  if (typeof transaction_id !== 'string' && typeof transaction_id !== 'number') return null
  const text = String(transaction_id)
  return text.length >= 1 && text.length <= LONGEST && isStorable(text) ? text : null
}
