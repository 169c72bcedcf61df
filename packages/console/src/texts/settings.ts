/** Texts of settings: limits and options, doctor's findings, operators. */

/** Texts of the page, and of the list of limits and options. */
export const SETTINGS = {
  lead: 'What counts on the node that answers. A setting changes with its environment variable, when the node starts again.',
  views: 'Parts of the settings',
  view: { settings: 'Limits and options', findings: 'Findings', operators: 'Operators' },
  caption: 'Limits and options',
  fields: { text: 'Name or meaning', kind: 'Kind', source: 'Source' },
  columns: { variable: 'Variable', value: 'Value', meaning: 'Meaning', source: 'Source' },
  secret: 'not shown',
  unset: 'not set',
  usual: (value: string) => `default: ${value}`,
  shown: (shown: string, all: string) => `${shown} of ${all} settings`,
} as const

/** Texts of the list of doctor's findings. */
export const FINDINGS = {
  lead: 'The checks of rollcall doctor, on the node that answers. They change nothing.',
  caption: 'Findings',
  columns: { state: 'State', check: 'Check', advice: 'What was found' },
  command: 'command',
  again: 'Check again',
  counts: (broken: string, weak: string, ok: string) => `${broken} broken, ${weak} weak, ${ok} well`,
  state: { ok: 'well', weak: 'weak', broken: 'broken' },
} as const

/** Texts of the lists of operator tokens and sessions. */
export const OPERATORS = {
  title: 'Tokens',
  lead: 'Who may sign in here and call the admin API. Only digests of the tokens are stored.',
  caption: 'Operator tokens',
  columns: { name: 'Name', roles: 'Roles', bound: 'Bound to', state: 'State', made: 'Made', expires: 'Expires' },
  state: { live: 'active', revoked: 'revoked', expired: 'expired' },
  everything: 'all registries',
  authority: (name: string) => `the authority ${name}`,
  empty: 'No token yet',
  sessions: {
    title: 'Signed in now',
    lead: 'Sessions of this console. Ending one leaves the token, or the account at the provider, as it is.',
    caption: 'Sessions of the console',
    columns: { name: 'Name', by: 'Signed in by', began: 'Began', seen: 'Last act', ends: 'Ends at the latest' },
    token: 'token or link',
    empty: 'Nobody is signed in',
    end: {
      act: 'Sign out',
      title: (name: string) => `Sign ${name} out`,
      lead: 'This session ends at once. What was not sent yet in that browser is lost. The operator can sign in again.',
      all: 'End all sessions of this operator',
      own: 'This is your own name: you may be signed out here.',
      done: (name: string, count: string) => `${name} is signed out. Sessions ended: ${count}.`,
    },
  },
  add: {
    act: 'Add a token',
    name: 'Name',
    nameAdvice: 'Of the person or the program that will have it.',
    roles: 'Roles',
    registries: 'Registries',
    registriesAdvice: 'None chosen: the token is for all registries.',
    expires: 'Expires',
    expiresAdvice: 'Empty: in 90 days. At most 366 days.',
    confirm: 'Make the token',
    secretTitle: (name: string) => `Token of ${name}`,
    what: 'token',
  },
  meanings: {
    read: 'sees everything but personal data',
    publish: 'sends events, and nothing else',
    consent: 'withdraws consents, and nothing else',
    operate: 'read, and changes of the running system',
    audit: 'read, and personal data',
    own: 'everything',
  },
  revoke: {
    act: 'Revoke',
    title: (name: string) => `Revoke the token of ${name}`,
    lead: 'From the next call on it is refused, and its sessions of the console end. It cannot be taken back.',
    own: 'This is your own token: you will be signed out.',
    done: (name: string) => `The token of ${name} is revoked.`,
  },
} as const
