/** Texts of deliveries. */
export const DELIVERIES = {
  lead: 'What is sent to participants: pages of answers, and notifications.',
  caption: 'Deliveries',
  fields: { state: 'State', participant: 'Participant', since: 'Made from', until: 'Made before' },
  columns: {
    made: 'Made',
    participant: 'Participant',
    callback: 'Callback',
    state: 'State',
    attempts: 'Attempts',
    next: 'Next attempt',
    reason: 'Cause',
  },
  empty: 'No delivery yet',
  emptyNote: 'Answers to asynchronous requests and notifications appear here.',
  shown: (count: string) => `The ${count} newest are shown.`,
} as const

export const DELIVERY = {
  above: 'All deliveries',
  facts: {
    state: 'State',
    participant: 'Participant',
    callback: 'Callback',
    target: 'Address',
    page: 'Page',
    message_id: 'message_id',
    correlation_id: 'Answers the request',
    created: 'Made',
    next: 'Next attempt',
    finished: 'Ended',
    reason: 'Cause',
  },
  attempts: 'Attempts',
  attemptsCaption: 'Attempts at this delivery',
  columns: { number: 'Attempt', at: 'Began', duration: 'Duration', status: 'HTTP', error: 'Result' },
  fine: 'taken',
  noAttempt: 'No attempt yet',
  toMessage: 'Timeline of the message',
} as const
