/** Texts of acts that wait for a second operator. */
export const APPROVALS = {
  lead: 'Acts that give access wait until a second operator approves them.',
  off: 'No act waits: two-person approval is off. Set ROLLCALL_TWO_PERSON=1 to turn it on.',
  caption: 'Proposals',
  fields: { state: 'State' },
  columns: {
    act: 'Act',
    state: 'State',
    by: 'Proposed by',
    at: 'Proposed',
    lapses: 'Lapses',
    decided: 'Decided by',
  },
  empty: 'No proposal yet',
  emptyNote: 'An act that needs a second operator appears here.',
} as const

export const APPROVAL = {
  above: 'All proposals',
  what: 'id of the proposal',
  facts: {
    act: 'Act',
    state: 'State',
    by: 'Proposed by',
    at: 'Proposed',
    lapses: 'Lapses',
    role: 'Role that decides',
    decided: 'Decided by',
    decidedAt: 'Decided',
    failure: 'Why it failed',
  },
  changes: 'What would change',
  changesCaption: 'What would change',
  columns: { at: 'What', from: 'Now', to: 'Then' },
  nothing: 'nothing',
  confidential: 'Confidential',
  confidentialLead: 'You see this because you may decide. The look is accounted with your name.',
  approve: 'Approve',
  decline: 'Decline',
  approveLead: (act: string, by: string) =>
    `“${act}” is done at once, as ${by} has proposed it. The accounts of access name both of you.`,
  declineLead: (act: string) => `“${act}” is not done. Whoever still wants it proposes it again.`,
  approved: 'Approved and done',
  declined: 'Declined',
  own: 'You have proposed this. Another operator decides.',
  result: 'What the act answered',
  resultLead: 'This is shown once. Secrets in it are not stored and cannot be shown again.',
} as const
