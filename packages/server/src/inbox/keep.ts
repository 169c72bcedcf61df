/** Keeps a callback in the inbox, once, and no more of one participant in a day than it may have. */

import { randomUUID } from 'node:crypto'
import {
  type Callback,
  canonicalJson,
  HeaderRejection,
  type IncomingHeader,
  OPERATIONS,
} from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { withinDay } from '../exchange/within-day.ts'
import type { Message } from '../model/exchange.ts'
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import { exchangeFingerprint } from '../shared/fingerprint.ts'
import { inboxContext, type NewInboxMessage } from '../store/exchanges/inbox.ts'

/** A callback that was checked. */
export interface ReceivedCallback {
  readonly callback: Callback
  readonly registry: Registry
  readonly participant: Participant
  readonly header: IncomingHeader & { readonly status?: unknown }
  /** Null: it is a rejection and says nothing more. */
  readonly message: Message | null
  /** As it was called; the same message on another path is another message. */
  readonly path: string
}

/**
 * The correlation_id that it is acknowledged with: its own, or one made for it when it came first.
 * @throws HeaderRejection rjct.message_id.duplicate
 * @throws RequestFault 429 err.request.too_many_requests
 */
export async function keep(context: Context, received: ReceivedCallback): Promise<string> {
  const { callback, registry, participant, header, message, path } = received
  const { namespace } = registry
  const key = {
    participant: participant.id,
    message_id: header.message_id,
    fingerprint: exchangeFingerprint({ header, message, namespace, path }),
  }
  const make = async (): Promise<NewInboxMessage> => ({
    ...key,
    callback: callback.name,
    registry: registry.id,
    correlation_id: textOf(message?.correlation_id) ?? randomUUID(),
    transaction_id: message?.transaction_id ?? null,
    status: textOf(header.status),
    state: ANSWERS.has(callback) ? 'quarantined' : 'stored',
    body: await context.bodies.encryptBody(canonicalJson({ header, message }), inboxContext(key)),
  })
  const kept = await withinDay(context, 'inbox', participant.id, {
    keep: async () => context.inbox.keep(await make()),
    known: () => context.inbox.known(key),
  })
  if (kept.known !== 'different') return kept.correlation_id
  throw new HeaderRejection(
    'rjct.message_id.duplicate',
    'header.message_id: was used before for another message',
  )
}

/** The callbacks that answer a request. As long as this server sends none, none of them answers one of ours. */
const ANSWERS: ReadonlySet<Callback | null> = new Set(OPERATIONS.map(({ callback }) => callback))

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)
