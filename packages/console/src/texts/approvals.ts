/** Texts of acts that wait for a second operator. */

/** Texts of the list of proposals. */
export const APPROVALS = {
  lead: 'Acts that give access, or lift a protection, wait until a second operator approves them.',
  off: 'No act waits: two-person approval is off. Set ROLLCALL_TWO_PERSON=1 to turn it on.',
  caption: 'Proposals',
  fields: { state: 'State' },
  columns: {
    act: 'Act',
    about: 'About',
    state: 'State',
    by: 'Proposed by',
    at: 'Proposed',
    lapses: 'Lapses',
    decided: 'Decided by',
  },
  cut: (count: string, ofAllStates: boolean) =>
    `The newest ${count} are shown.${ofAllStates ? ' Choose a state to see older ones.' : ''}`,
  empty: 'No proposal yet',
  emptyNote: 'An act that needs a second operator appears here.',
} as const

/** Texts of the page of one proposal. */
export const APPROVAL = {
  above: 'All proposals',
  title: (act: string) => `Proposal: ${act}`,
  what: 'id of the proposal',
  facts: {
    state: 'State',
    by: 'Proposed by',
    at: 'Proposed',
    lapses: 'Lapses',
    role: 'Role that decides',
    decided: 'Decided by',
    decidedAt: 'Decided',
    failure: 'Why it failed',
    id: 'Proposal',
  },
  changes: 'What would change',
  changesCaption: 'What would change',
  columns: { at: 'What', from: 'Now', to: 'Then' },
  nothing: 'not set',
  same: 'stays',
  confidential: 'Confidential',
  confidentialLead: 'You see this because you may decide. The audit log names you.',
  approve: 'Approve',
  decline: 'Decline',
  approveLead: (act: string, by: string) =>
    `“${act}” is done at once, as ${by} has proposed it. The audit log names both of you.`,
  declineLead: (act: string) => `“${act}” is not done. Whoever still wants it proposes it again.`,
  approved: 'Approved and done',
  declined: 'Declined',
  own: 'You have proposed this. Another operator decides.',
  result: 'What the act answered',
  resultLead: 'This is shown once. Secrets in it are not stored and cannot be shown again.',
} as const

/** The meaning of each act for the operator who decides, by the name of the act. */
const MEANING_BY_ACT: Readonly<Record<string, string>> = {
  'grant set': 'A participant may do more, or see more, in a registry.',
  'participant add': 'A new participant gets grants, and a client secret.',
  'participant key add': 'Messages that are signed with these keys are accepted as those of the participant.',
  'participant policy': 'Messages of the participant are checked less, or its keys are fetched from another address.',
  'participant host allow': 'Our servers may send requests to this host.',
  'participant callback': 'Answers and notifications for the participant go to these addresses.',
  'participant secret rotate': 'A new client secret. The participant need not sign, so the secret alone says who asks.',
  'participant enable': 'A disabled participant may ask again: its secrets and tokens are valid again.',
  'participant promote': 'A sandbox participant becomes a live one.',
  'registry add': 'A new registry shows records of a database of their own.',
  'registry set':
    'Pages of another web origin may ask the registry, people come of age earlier, or it shows records of another source.',
  'operator add': 'A new operator, who may decide about acts that wait.',
  'consent authority add': 'Consents that are signed with these keys count.',
  'consent reinstate': 'Consents that a person has withdrawn count again.',
  'hold remove': 'What the hold covers may be deleted.',
  'record unprotect': 'A protected person is found and shown as everybody else.',
  'erase person':
    'A person is erased from the audit log and from what waits. This cannot be undone. Only a command can approve it.',
  apply: 'A configuration file is applied.',
  'deliveries change': 'Many messages are sent again.',
  'deliveries replay': 'Many messages are sent again.',
  'subscriptions backfill': 'Every record that matches the subscription is sent to its participant.',
  'messages bodies': 'The proposer asks to see the content of a message. It is shown to you, who approve.',
  'deliveries body': 'The proposer asks to see the message of a delivery. It is shown to you, who approve.',
  'deliveries show': 'The proposer asks to see the message of a delivery. It is shown to you, who approve.',
  'inbox show': 'The proposer asks to see a callback. It is shown to you, who approve.',
}

/** Returns what the approval of an act means; null for an act that this page does not know. */
export const approvalMeaning = (act: string): string | null =>
  Object.hasOwn(MEANING_BY_ACT, act) ? (MEANING_BY_ACT[act] ?? null) : null
