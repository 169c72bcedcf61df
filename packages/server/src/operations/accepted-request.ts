/** The request of an accepted exchange, as it is kept. */
import { isJsonObject } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { parseKept } from '../exact-json.ts'
import { type Exchange, type Message, requestContext } from '../exchange.ts'
import { BodyClosed } from '../keys/bodies.ts'
import type { AcceptedExchange } from '../store/accepted-exchanges.ts'

/** What was checked when it was accepted. */
export interface AcceptedRequest {
  readonly header: Exchange['header']
  readonly message: Message
}

/** @throws BodyClosed */
export async function openRequest(
  context: Context,
  accepted: Pick<AcceptedExchange, 'correlation_id' | 'request'>,
): Promise<AcceptedRequest> {
  const text = await context.bodies.openBody(accepted.request, requestContext(accepted))
  const kept = parseKept(text)
  if (!isJsonObject(kept)) throw new BodyClosed('altered')
  return kept as unknown as AcceptedRequest
}
