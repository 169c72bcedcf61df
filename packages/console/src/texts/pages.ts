/** The title of every page, as in the menu. */
export const PAGES = {
  overview: 'Overview',
  messages: 'Messages',
  message: 'Message',
  deliveries: 'Deliveries',
  delivery: 'Delivery',
  participants: 'Participants',
  participant: 'Participant',
  grant: 'Grant',
  registries: 'Registries',
  registry: 'Registry',
  mailboxes: 'Notifications',
  subscriptions: 'Subscriptions',
  subscription: 'Subscription',
  events: 'Events',
  settings: 'Settings',
  try: 'Try it',
} as const
