/** Texts of subscriptions and events. */

/** Texts of the list of subscriptions. */
export const SUBSCRIPTIONS = {
  lead: 'Who is notified of which events. The filters of subscriptions may be personal data and are not shown.',
  caption: 'Subscriptions',
  fields: { participant: 'Participant', namespace: 'Registry', state: 'State' },
  columns: {
    code: 'Code',
    participant: 'Participant',
    registry: 'Registry',
    event: 'Event',
    record: 'Record type',
    state: 'State',
    created: 'Made',
  },
  empty: 'No subscription yet',
  emptyNote:
    'A participant makes a subscription with a subscribe request. Its grant has to name the operation subscribe and the event types.',
} as const

/** Texts of the page of one subscription. */
export const SUBSCRIPTION = {
  above: 'All subscriptions',
  what: 'code',
  facts: {
    state: 'State',
    reason: 'Cause',
    participant: 'Participant',
    registry: 'Registry',
    event: 'Event',
    record: 'Record type',
    cron: 'Sent at',
    locale: 'Language',
    sender_uri: 'Address that its request named',
    waiting: 'Notifications that wait',
    created: 'Made',
    start: 'Begins',
    end: 'Ends by itself',
    ended: 'Ended',
    transaction_id: 'transaction_id',
    correlation_id: 'correlation_id',
    reference_id: 'reference_id',
  },
  atOnce: 'at once',
  mailbox: {
    title: 'Mailbox',
    lead: 'What waits for the same participant, registry and address. It is sent in order.',
    id: 'Id',
    state: 'State',
    closed: 'Closed',
    sequence: 'Notifications sent',
    waiting: 'Notifications that wait',
    subscriptions: 'Subscriptions that have not ended',
  },
  test: {
    act: 'Send a test',
    lead: 'One notification with a synthetic record is queued. It is marked as a test.',
    confirm: 'Send the test',
    done: 'The test notification is queued.',
  },
  resume: { act: 'Resume', done: 'The subscription is live again. What waits in its mailbox is sent.' },
  cancel: {
    act: 'Cancel the subscription',
    lead: 'The subscription ends and matches no event any more. The participant has to subscribe again.',
    waiting: (count: string) => `Notifications that wait for it and will not be sent: ${count}`,
    done: 'The subscription has ended.',
  },
} as const

/** Texts of the page of events. */
export const EVENTS = {
  lead: 'What happened in a registry, the newest first. This list does not show to whom.',
  caption: 'Events',
  fields: {
    namespace: 'Registry',
    event_type: 'Event type',
    event_id: 'event_id',
    since: 'Recorded from',
    until: 'Recorded before',
  },
  columns: {
    id: 'Id',
    type: 'Event type',
    record: 'Record type',
    occurred: 'Happened',
    recorded: 'Recorded',
    matched: 'Notified',
    event_id: 'event_id',
    corrected: 'Corrected by',
  },
  noRegistry: 'No registry yet',
  noRegistryNote: 'Events belong to a registry. Add one first.',
  empty: 'No event yet',
  emptyNote: 'An event is recorded when it is published: by the system of the registry, or with rollcall publish.',
  publish: {
    label: 'Publish an event',
    title: (namespace: string) => `Publish an event of ${namespace}`,
    act: 'Publish',
    lead: 'The record is written, and who has subscribed is notified. The people of this registry are made up.',
    record: 'Record',
    recordNote: 'JSON. Somebody made up whom the event fits; with the identifier of a stored record it changes that one.',
    done: (matched: string) => `The event is recorded. Subscriptions that are notified: ${matched}.`,
  },
} as const
