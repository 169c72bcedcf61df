/** The calls about acts that wait for a second operator. Who approves or declines needs `read`, and also the role of the act. */
import { approveProposal, declineProposal, listProposals, showProposal } from '@rollcall/admin/approvals/proposals'
import { type AdminRoute, adminRoute } from './route.ts'

export const PROPOSAL_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/proposals', listProposals, {
    name: 'listProposals',
    role: 'read',
    summary: 'Acts that wait for a second operator, and those that did, the newest first.',
  }),
  adminRoute('GET', '/proposals/{id}', showProposal, {
    name: 'showProposal',
    role: 'read',
    summary: 'One proposal. Who may decide about it sees what is confidential in it as well.',
  }),
  adminRoute('POST', '/proposals/{id}/approve', approveProposal, {
    name: 'approveProposal',
    role: 'read',
    summary: 'Does the act. Needs the role of the act, and is refused to who has proposed it.',
  }),
  adminRoute('POST', '/proposals/{id}/decline', declineProposal, {
    name: 'declineProposal',
    role: 'read',
    summary: 'The act is not done. Needs the role of the act, and is refused to who has proposed it.',
  }),
]
