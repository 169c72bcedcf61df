/** Types: a row of the table of operations, and of callbacks. The tables are in `operations.ts`. */
import type { TSchema } from 'typebox'
import type { Deprecation } from './deprecation.ts'

/** The message of a reply: its schema, and the member with its batch, if it has one. */
export interface Reply {
  readonly name: string
  /** The documented shape of every message that we send. */
  readonly schema: TSchema
  readonly items: string | null
}

/** A message that is received. */
export interface Message extends Reply {
  /** The schema, after tolerance, for the message to be accepted; items are checked after it. */
  readonly incoming: TSchema
  /** `header.total_count` is compared with the number of items. */
  readonly counted: boolean
  /** The path to its batch; null when there is none. In most messages this is the member `items`. */
  readonly batch: readonly string[] | null
  /** The paths to members that may have many values, while all others have few, in every accepted spelling. */
  readonly bulk: readonly (readonly string[])[]
}

/** The header that a message travels with (N1): the callback header adds the status members. */
export type HeaderShape = 'request' | 'callback'

/** The rows of CODES that the `status_reason_code` of a reply's items comes from. */
export type ItemCodes = 'search' | 'subscribe' | 'unsubscribe'

/** A callback that the requester serves: results of its own requests, and events. It is always answered with an ack. */
export interface Callback {
  readonly name: string
  readonly action: string
  readonly action_aliases: readonly string[]
  /** Relative to the base address. */
  readonly path: string
  readonly header: HeaderShape
  /** The schema of `meta` in its header, as we write it; null: we write none. */
  readonly meta: TSchema | null
  readonly message: Message
}

/** The groups of operations, in the order of the reference page. */
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
  /** One line for the reference page, with the clause. */
  readonly summary: string
  readonly action: string
  /** Other accepted spellings of the action (3.1). */
  readonly action_aliases: readonly string[]
  /** Paths answered with the result, relative to the base address; the first is canonical, the others aliases. */
  readonly sync_paths: readonly string[]
  /** Paths answered with an ack, the result following at `callback`. */
  readonly async_paths: readonly string[]
  readonly request: Message
  readonly reply: Reply
  /** The action in the header of a synchronous answer. */
  readonly reply_action: string
  /**
   * Whether the members of the reply are also written beside its envelope, for readers of the bare message (D8, D9).
   */
  readonly reply_also_bare: boolean
  /** The callback with the result of an asynchronous request. */
  readonly callback: Callback | null
  /** The callback that is sent later without another request; null: none. */
  readonly notifies: Callback | null
  /** Null when items of the reply have no reason code. */
  readonly codes: ItemCodes | null
  /** Whether the operation changes data of the registry. */
  readonly writes: boolean
  /** `all`: every kind has it. `own`: only the kinds whose literal lists it. */
  readonly kinds: 'all' | 'own'
  /** The deprecation, with the time of the removal. */
  readonly deprecated?: Deprecation
}

/** A message whose incoming form must have the documented shape, unless `incoming` is less strict. */
export function message(name: string, schema: TSchema, more: Partial<Message> = {}): Message {
  const batch = more.items === undefined || more.items === null ? null : [more.items]
  const bulk = batch === null ? [] : [batch]
  return { name, schema, incoming: schema, items: null, batch, counted: false, bulk, ...more }
}
