/** Keeps a callback in the inbox, once, and no more of one participant in a day than it may have. */

import { randomUUID } from 'node:crypto'
import {
  type Callback,
  canonicalJson,
  HeaderRejection,
  type IncomingHeader,
  OPERATIONS,
} from '@rollcall/protocol'
import { type DayBounded, withinDay } from '../admission/within-day.ts'
import type { Bodies } from '../keys/bodies.ts'
import type { Message } from '../model/exchange.ts'
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import { exchangeFingerprint } from '../shared/fingerprint.ts'
import { type Inbox, inboxContext, type NewInboxMessage } from '../store/exchanges/inbox.ts'

export type KeepingCallback = DayBounded & {
  readonly inbox: Inbox
  readonly bodies: Pick<Bodies, 'encryptBody'>
}

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
export async function keep(parts: KeepingCallback, received: ReceivedCallback): Promise<string> {
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
    body: await parts.bodies.encryptBody(canonicalJson({ header, message }), inboxContext(key)),
  })
  const kept = await withinDay(parts, 'inbox', participant.id, {
    keep: async () => parts.inbox.keep(await make()),
    known: () => parts.inbox.known(key),
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
