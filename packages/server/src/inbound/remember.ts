/** Remembers a message before anything is done about it, so that a retry is known as one (D27). */
import { HeaderRejection, type JsonObject } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../exchange.ts'
import { exchangeFingerprint } from '../fingerprint.ts'

/**
 * The exchange under the correlation_id that its message has: of the same message sent again, the first one's.
 * A synchronous read is answered anew then, under the rights of today.
 * @param message opened, where it was encrypted
 * @param path of the operation; the same message on another path is another message
 * @throws HeaderRejection rjct.message_id.duplicate
 */
export async function remember(
  context: Context,
  exchange: Exchange,
  message: JsonObject,
  path: string,
): Promise<Exchange> {
  const { header, registry, operation } = exchange
  const { known, correlation_id } = await context.exchanges.remember({
    correlation_id: exchange.correlation_id,
    participant: exchange.participant.id,
    message_id: header.message_id,
    fingerprint: exchangeFingerprint({ header, message, namespace: registry.namespace, path }),
    registry: registry.id,
    operation: operation.name,
  })
  if (known === 'different') {
    throw new HeaderRejection(
      'rjct.message_id.duplicate',
      'header.message_id: was used before for another message',
    )
  }
  return { ...exchange, correlation_id }
}
