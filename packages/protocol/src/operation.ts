/** The types of a row in the table of operations, and in that of callbacks. The tables are in `operations.ts`. */
import type { TSchema } from 'typebox'
import type { Deprecation } from './deprecation.ts'

/** The message in a reply. `items` is the member with its list of items, which is the batch; null when it has none. */
export interface Reply {
  readonly name: string
  /** The documented schema of the message, for messages that we send. */
  readonly schema: TSchema
  readonly items: string | null
}

/** A message that is received: by a registry, or, in a callback, by the requester. */
export interface Message extends Reply {
  /**
   * The schema that a received message must satisfy, after `tolerateMessage` has made its spellings canonical. What the schema
   * does not check is checked later.
   */
  readonly incoming: TSchema
  /**
   * True when `header.total_count` must equal the number of items. A message without total_count, or with 0, is also accepted.
   */
  readonly counted: boolean
  /** The path to the batch; null when there is none. It is the one name in `items`, but has two names in an enrolment update. */
  readonly batch: readonly string[] | null
  /** The paths, in every accepted spelling, of members that may have many values. `JsonBulk.maxOutside` limits all others. */
  readonly bulk: readonly (readonly string[])[]
}

/** The header of a message (N1). The callback header has members for a status. */
export type HeaderShape = 'request' | 'callback'

/**
 * Selects, by `where`, the rows of CODES whose codes may be the `status_reason_code` of an item in a reply, or of a whole reply
 * to unsubscribe, which has no items.
 */
export type ItemCodes = 'search' | 'subscribe' | 'unsubscribe'

/** A callback: a message that a registry sends to the requester, with results or events. The answer is an acknowledgement. */
export interface Callback {
  readonly name: string
  readonly action: string
  readonly action_aliases: readonly string[]
  /** The usual path of the callback, below the base address of its receiver. */
  readonly path: string
  readonly header: HeaderShape
  /** The schema of `meta` in the header that we send; null when we send it empty. */
  readonly meta: TSchema | null
  readonly message: Message
}

/** Groups of operations, in the order of the reference page. */
export const THEMES = [
  { name: 'Search', description: 'Find records, at once or with a callback.' },
  { name: 'Events', description: 'Subscribe to events. Notifications are sent to the subscriber (see Webhooks).' },
  { name: 'Enrolment', description: 'Who is enrolled in which programme.' },
  { name: 'Disability', description: 'Whether a person is registered as disabled, and what follows from it.' },
  { name: 'Status', description: 'How an earlier request stands.' },
  { name: 'Access token', description: 'Every request needs one.' },
  { name: 'Callbacks of other registries', description: 'This server may ask other registries, too.' },
] as const
export type Theme = (typeof THEMES)[number]['name']

/** An operation that a registry serves. */
export interface Operation {
  readonly name: string
  readonly theme: Theme
  /** One line for the reference page, with its source in the specification. */
  readonly summary: string
  readonly action: string
  /** Other accepted spellings of the action. */
  readonly action_aliases: readonly string[]
  /** The paths below the base address whose answer has the result. The first is canonical, the others are aliases. */
  readonly sync_paths: readonly string[]
  /** The paths whose answer is an acknowledgement; the result follows in `callback`. */
  readonly async_paths: readonly string[]
  readonly request: Message
  readonly reply: Reply
  /** The action in the header of a synchronous answer. */
  readonly reply_action: string
  /**
   * True when the body of the answer has the members of the reply twice: in `message`, and beside it for requesters that expect
   * a body without an envelope (D8, D9).
   */
  readonly reply_also_bare: boolean
  /** The callback that has the result of an asynchronous request; null when the operation has no asynchronous path. */
  readonly callback: Callback | null
  /** The callback that sends notifications to the requester after the answer; null when the operation has none. */
  readonly notifies: Callback | null
  /** The value of `where` in CODES for the reason codes of the reply; null when the reply has no reason codes. */
  readonly codes: ItemCodes | null
  /** True when the operation changes stored data: records or subscriptions. */
  readonly writes: boolean
  /** `all`: every kind has the operation. `own`: only the kinds that list it. */
  readonly kinds: 'all' | 'own'
  /** When the operation will be removed; absent when it stays. */
  readonly deprecated?: Deprecation
}

/** Makes a `Message`. `more` has the members that differ from the usual ones, such as an `incoming` other than `schema`. */
export function message(name: string, schema: TSchema, more: Partial<Message> = {}): Message {
  const batch = more.items === undefined || more.items === null ? null : [more.items]
  const bulk = batch === null ? [] : [batch]
  return { name, schema, incoming: schema, items: null, batch, counted: false, bulk, ...more }
}
