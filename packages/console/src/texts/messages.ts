/** Texts of the list of messages and of the timeline of one. */

/** Texts of the list of messages. */
export const MESSAGE_LIST = {
  lead: 'Requests, answers, callbacks and notifications, the newest first. The list names no person.',
  caption: 'Messages',
  fields: {
    message_id: 'message_id',
    participant: 'Participant',
    namespace: 'Registry',
    outcome: 'Outcome',
    transaction_id: 'transaction_id',
    correlation_id: 'correlation_id',
    reference_id: 'reference_id',
    operation: 'Operation',
    since: 'From',
    until: 'Before',
  },
  columns: {
    at: 'Time',
    operation: 'Operation',
    kind: 'Kind',
    participant: 'Participant',
    registry: 'Registry',
    outcome: 'Outcome',
    records: 'Records',
  },
  searchedTo: 'Older messages are on the next pages. This one looked back to',
  empty: 'No message yet',
  emptyNote: 'Each message that is answered, acknowledged or sent appears here.',
} as const

/**
 * Texts of how a message ended. The outcome of a sent message does not say whether the message has arrived; the state of its
 * delivery does.
 */
export const MESSAGE_ENDS = {
  /** By kind of message: the text for an outcome that says only that the message was made, not that it has arrived. */
  made: { callback: { succeeded: 'answered', partial: 'partly answered' }, notification: { succeeded: 'composed' } } as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >,
  /** Texts for the states of a delivery except `delivered`, in which the message has arrived. */
  delivery: {
    pending: 'delivery waiting',
    held: 'delivery held',
    refused: 'delivery refused',
    dead: 'delivery failed',
    dropped: 'delivery dropped',
  } as Readonly<Record<string, string>>,
} as const

/** Texts of the page of one message. */
export const TIMELINE = {
  above: 'All messages',
  several: (count: string) => `${count} messages have this message_id.`,
  timeline: 'Timeline',
  facts: {
    participant: 'Participant',
    registry: 'Registry',
    operation: 'Operation',
    message_id: 'message_id',
    transaction_id: 'transaction_id',
    correlation_id: 'correlation_id',
  },
  steps: {
    received: 'Received',
    verified: 'Verified',
    checked: 'Checked',
    accepted: 'Accepted',
    started: 'Begun',
    searched: 'Searched',
    replied: 'Answer made',
    finished: 'Finished',
    recorded: 'Event recorded',
    stored: 'Stored in the inbox',
    attempt: 'Delivery attempt',
    replayed: 'Sent again',
    ended: 'Delivery ended',
    next: 'Next',
  } as Readonly<Record<string, string>>,
  held: 'Delivery held',
  attempt: (number: number) => `Delivery attempt ${number}`,
  nextAttempt: (number: number) => `Attempt ${number}`,
  outcomes: { done: 'done', failed: 'failed', waiting: 'still to come' },
  took: (duration: string) => `took ${duration}`,
  status: (status: number) => `HTTP ${status}`,
  key: (kid: string) => `key ${kid}`,
  page: (page: number) => `page ${page}`,
  toDelivery: 'Delivery',
  docs: 'What this step is',
} as const
