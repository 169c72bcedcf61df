/** Texts of the frame of the partner page, which is around each view. */
export const PARTNER = {
  skip: 'Skip to the content',
  views: 'Parts of the page',
  view: {
    start: 'Start',
    deliveries: 'Deliveries',
    subscriptions: 'Subscriptions',
    keys: 'Keys and addresses',
    grants: 'Grants and quotas',
  },
  signOut: 'Sign out',
  lost: 'The page cannot be shown',
} as const

/** Texts of the sign-in page. */
export const PARTNER_SIGN_IN = {
  title: 'Sign in',
  lead: 'This page is for the people of a system that asks the registries of this server.',
  how: 'You sign in with a link that the operator of the server gives you. It works once, for 15 minutes. A client secret is not asked for here: give it to nobody.',
  command: 'The operator makes one with this command:',
  link: 'A one-time link signs you in. It can be used once.',
  useLink: 'Sign in with this link',
  fault: 'This link does not sign you in',
} as const

/** Texts of the first view. */
export const PARTNER_START = {
  lead: (sender_id: string) => `What is stored of ${sender_id} on this server, and how far its system has come.`,
  checklist: 'From zero to the first signed search',
  checklistLead: 'What this server has seen of your system.',
  step: {
    key: 'Register a key',
    token: 'Get an access token',
    search: 'Send a search',
    signature: 'Sign it',
    callback: 'Take a callback',
  },
  state: { done: 'done', open: 'to do', skipped: 'not needed' },
  examples: 'Your first search',
  examplesLead: 'With your sender_id. Ids and times are made now: load the page again for fresh ones.',
  mustSign:
    'Your messages must be signed. The commands below do not sign: they show the token and the message. The programs sign, with the key in the file that SIGNING_KEY names.',
  registry: 'Registry',
  shell: 'In a shell',
  typescript: 'In TypeScript, with @rollcall/client',
  python: 'In Python, with rollcall.py (docs/python.md)',
  java: 'In Java, with Rollcall.java (docs/java.md)',
  setup: (origin: string, client_id: string) =>
    `REGISTRY=${origin}\nCLIENT_ID=${client_id}\nCLIENT_SECRET=  # the operator has given it to you\n`,
  none: 'No search is granted',
  noneNote: 'Ask the operator of the registry for a grant.',
} as const

/** Texts of the views of deliveries and of one delivery. */
export const PARTNER_DELIVERIES = {
  title: 'Deliveries',
  lead: 'What this server sends to your system: answers to asynchronous requests, and notifications.',
  caption: 'Deliveries, the newest first',
  filter: { state: 'State' },
  columns: {
    made: 'Made',
    registry: 'Registry',
    callback: 'Callback',
    state: 'State',
    attempts: 'Attempts',
    cause: 'What happened',
  },
  empty: 'Nothing was sent yet',
  emptyNote: 'The answer to an asynchronous search is the first delivery.',
  above: 'Deliveries',
  one: 'Delivery',
  facts: {
    message_id: 'message_id',
    correlation_id: 'correlation_id',
    state: 'State',
    registry: 'Registry',
    callback: 'Callback',
    target: 'Address',
    made: 'Made',
    next: 'Next attempt',
    finished: 'Ended',
  },
  cause: 'What happened, and what you can do',
  attempts: 'Attempts',
  attemptsCaption: 'Attempts, the first one first',
  noAttempts: 'It was not attempted yet',
  attempt: { number: 'Number', at: 'Began', duration: 'Took', status: 'HTTP status', cause: 'What happened' },
  again: 'Send again',
  againTitle: 'Send this delivery again?',
  againLead: 'It is sent with the same message_id, to the address that counts now. A notification is composed anew.',
  sent: 'It is sent again.',
} as const

/** Texts of the view of subscriptions. */
export const PARTNER_SUBSCRIPTIONS = {
  title: 'Subscriptions',
  lead: 'What your system has subscribed to.',
  caption: 'Subscriptions, the newest first',
  filter: { state: 'State' },
  columns: { code: 'Code', registry: 'Registry', event: 'Event', record: 'Record type', state: 'State', created: 'Made' },
  empty: 'There is no subscription',
  emptyNote: 'A subscribe request makes one, if your grant permits it.',
} as const

/** Texts of the view of keys and addresses. */
export const PARTNER_KEYS = {
  title: 'Keys and addresses',
  lead: 'A key or an address is changed by the operator: send what is new, with the same care as a password reset.',
  keys: 'Registered keys',
  keysCaption: 'Registered keys, the newest first',
  noKeys: 'No key is registered',
  noKeysNote: 'Make a key pair, and give the public key to the operator.',
  published: 'Published keys that have signed',
  publishedCaption: 'Keys of your jwks_uri that have verified messages',
  messages: 'Messages',
  facts: {
    sender_id: 'sender_id',
    client_id: 'client_id',
    signature: 'Signatures of your messages',
    encryption: 'Encryption',
    jwks_uri: 'Address of your key set',
    default_url: 'Address for callbacks',
    notify_url: 'Address for notifications',
    allowed: 'Addresses that your requests may name',
    auth: 'How this server identifies itself there',
    last_seen: 'Newest message',
  },
  signature: { required: 'required', 'if-present': 'checked where there is one', off: 'not checked' },
  none: 'none',
} as const

/** Texts of the view of grants and usage. */
export const PARTNER_GRANTS = {
  title: 'Grants and quotas',
  lead: 'What your system may do, and how much of it is used today.',
  grant: (namespace: string) => `In ${namespace}`,
  later: 'begins later',
  inForce: 'in force',
  none: 'Nothing is granted',
  noneNote: 'Every request is refused until the operator of a registry grants something.',
} as const
