/** Texts of the list of deliveries. */
export const DELIVERIES = {
  lead: 'What is sent to participants: pages of answers, and notifications.',
  caption: 'Deliveries',
  fields: {
    state: 'State',
    participant: 'Participant',
    namespace: 'Registry',
    origin: 'Origin of the address',
    since: 'Made from',
    until: 'Made before',
  },
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
  matching: 'With all that match the filter:',
} as const

/** Texts of the page of one delivery. */
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
  advice: 'What to do',
  noAttempt: 'No attempt yet',
} as const

/** Texts of the destinations with failures. */
export const DESTINATIONS = {
  title: 'Destinations in trouble',
  lead: 'Where deliveries fail or are held, why, and what to do.',
  noAddress: 'no address',
  dead: (count: string) => `${count} dead`,
  held: (count: string) => `${count} held`,
  waiting: (count: string) => `${count} waiting`,
  open: 'circuit breaker open',
  failures: (count: string) => `Attempts that failed in a row: ${count}.`,
  probe: 'Next attempt',
  times: (count: string) => `(${count})`,
} as const

/** Texts of acts on deliveries. */
export const DELIVERY_ACTS = {
  retry: {
    button: 'Retry now',
    title: 'Retry deliveries',
    lead: 'Those that wait, or were given up, are attempted now.',
    act: (count: string) => `Retry ${count}`,
    done: (count: string) => `Deliveries that are attempted again: ${count}`,
  },
  replay: {
    button: 'Replay',
    title: 'Replay deliveries',
    lead: 'Those that came to their end are sent again. The receiver may get what it already has.',
    act: (count: string) => `Replay ${count}`,
    done: (count: string) => `Deliveries that are sent again: ${count}`,
  },
  cancel: {
    button: 'Cancel delivery',
    title: 'Cancel deliveries',
    lead: 'They are not attempted any more. A cancelled delivery can be replayed.',
    act: (count: string) => `Cancel delivery (${count})`,
    done: (count: string) => `Deliveries that are cancelled: ${count}`,
  },
  found: (count: string) => `Deliveries: ${count}`,
  inClosed: (count: string) =>
    `Left as they are, because their mailbox is closed: ${count}. Resume a subscription of the mailbox first.`,
} as const
