/** What a row of the tables of operations and callbacks holds (`operations.ts`). */
import type { TSchema } from 'typebox'
import type { Deprecation } from './deprecation.ts'

/** A message that is answered with: its schema, and the member that holds its batch, if it has one. */
export interface Reply {
  readonly name: string
  /** The documented shape; every message that we send has it. */
  readonly schema: TSchema
  readonly items: string | null
}

/** A message that is received. */
export interface Message extends Reply {
  /** The schema, after tolerance, for the message to be accepted; items are checked after it. */
  readonly incoming: TSchema
  /** `header.total_count` is compared with the number of items. */
  readonly counted: boolean
  /** The way to its batch; null where there is none. The batch of most messages is the member `items`. */
  readonly batch: readonly string[] | null
  /** The ways to members that may hold many values where all others hold few, in every accepted spelling. */
  readonly bulk: readonly (readonly string[])[]
}

/** Which header a message travels with (N1): the callback header adds the status members. */
export type HeaderShape = 'request' | 'callback'

/** Which rows of CODES the `status_reason_code` of a reply's items comes from. */
export type ItemCodes = 'search' | 'subscribe' | 'unsubscribe'

/** What the requester serves: results of its own requests, and events. Always answered with an ack. */
export interface Callback {
  readonly name: string
  readonly action: string
  readonly action_aliases: readonly string[]
  /** Relative to the base address. */
  readonly path: string
  readonly header: HeaderShape
  /** What we say in `meta` of its header; null where nothing. */
  readonly meta: TSchema | null
  readonly message: Message
}

/** What the operations are about, in the order of the reference page. */
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

/** What a registry serves. */
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
  /** The reply's members also stand beside its envelope, for those who read the bare message (D8, D9). */
  readonly reply_also_bare: boolean
  /** Where the result of an asynchronous request goes. */
  readonly callback: Callback | null
  /** What is sent for it later on, without another request; null for nothing. */
  readonly notifies: Callback | null
  /** Null when the items of the reply carry no reason code. */
  readonly codes: ItemCodes | null
  /** Whether it changes what the registry stores. */
  readonly writes: boolean
  /** `all`: every kind has it. `own`: only the kinds whose literal lists it. */
  readonly kinds: 'all' | 'own'
  /** When it is to be removed. */
  readonly deprecated?: Deprecation
}

/** A message whose incoming form must have the documented shape, unless `incoming` is less strict. */
export function message(name: string, schema: TSchema, more: Partial<Message> = {}): Message {
  const batch = more.items === undefined || more.items === null ? null : [more.items]
  const bulk = batch === null ? [] : [batch]
  return { name, schema, incoming: schema, items: null, batch, counted: false, bulk, ...more }
}
