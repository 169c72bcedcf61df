/** Remembers a message before anything is done about it, so that a retry is known as one (D27). */
import { HeaderRejection, RequestFault } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../exchange.ts'
import { exchangeFingerprint } from '../fingerprint.ts'
import type { OpenedMessage } from './decrypt.ts'

/**
 * The exchange under the correlation_id that its message has: of the same message sent again, the first one's.
 * A synchronous read is answered anew then, under the rights of today.
 * @param path of the operation; the same message on another path is another message
 * @throws HeaderRejection rjct.message_id.duplicate
 * @throws RequestFault err.encryption.invalid for a ciphertext that was copied from another message
 */
export async function remember(
  context: Context,
  exchange: Exchange,
  { message, ciphertext }: OpenedMessage,
  path: string,
): Promise<Exchange> {
  const { header, registry, operation } = exchange
  const participant = exchange.participant.id
  const { message_id } = header
  const fingerprint = exchangeFingerprint({ header, message, namespace: registry.namespace, path })
  const { correlation_id } = exchange
  const [{ known, correlation_id: first }, own] = await Promise.all([
    context.exchanges.remember({
      correlation_id,
      participant,
      message_id,
      fingerprint,
      registry: registry.id,
      operation: operation.name,
    }),
    ciphertext === null || context.ciphertexts.remember({ fingerprint: ciphertext, participant, message_id }),
  ])
  if (!own) throw new RequestFault('err.encryption.invalid', 'message: cannot be opened')
  if (known === 'different') {
    throw new HeaderRejection(
      'rjct.message_id.duplicate',
      'header.message_id: was used before for another message',
    )
  }
  return { ...exchange, correlation_id: first }
}
