/** Texts of the list of mailboxes. */
export const MAILBOXES = {
  lead: 'Notifications leave in order, one mailbox for each participant, registry and address. A row leads to its subscriptions.',
  caption: 'Mailboxes',
  fields: { participant: 'Participant', namespace: 'Registry', state: 'State' },
  columns: {
    participant: 'Participant',
    registry: 'Registry',
    state: 'State',
    waiting: 'Waiting',
    due: 'First one due',
    sequence: 'Last number',
    subscriptions: 'Subscriptions',
  },
  suspended: (all: string, suspended: string) => `${all}, ${suspended} suspended`,
  empty: 'No mailbox yet',
  emptyNote: 'A mailbox is made with the first notification of a subscription.',
} as const
