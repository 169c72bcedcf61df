/** The calls of the admin API about the audit log. */
import { reportAccess } from '@rollcall/admin/audit/access-report'
import { listAuditEntries, listEmergencies, reviewEmergency } from '@rollcall/admin/audit/list'
import { auditPerson } from '@rollcall/admin/audit/person-accesses'
import { beginVerification, showVerification, stopVerification } from '@rollcall/admin/audit/verification'
import { type AdminRoute, adminRoute } from './route.ts'

export const AUDIT_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/accounts', listAuditEntries, {
    name: 'listAccounts',
    role: 'read',
    heavy: 'auditLog',
    summary: 'The newest audit entries. They name no person.',
  }),
  adminRoute('POST', '/accounts/person', auditPerson, {
    name: 'auditPerson',
    role: 'audit',
    summary: 'Who has seen, written, or asked about the data of a person, in all registries.',
  }),
  adminRoute('GET', '/emergencies', listEmergencies, {
    name: 'listEmergencies',
    role: 'audit',
    summary: 'Emergencies that nobody has reviewed, the oldest first, with their reasons.',
  }),
  adminRoute('POST', '/emergencies/{id}/reviews', reviewEmergency, {
    name: 'reviewEmergency',
    role: 'audit',
    status: 201,
    summary: 'Says that an emergency was reviewed, and what was found.',
  }),
  adminRoute('POST', '/accounts/report', reportAccess, {
    name: 'reportAccess',
    role: 'audit',
    summary: 'The answer to a person who asks who has seen the data: as a page, and as JSON.',
  }),
  adminRoute('POST', '/accounts/verify', beginVerification, {
    name: 'beginVerification',
    role: 'audit',
    summary: 'Begins to verify the whole audit log on this node, and answers at once with its progress.',
  }),
  adminRoute('GET', '/accounts/verify', showVerification, {
    name: 'showVerification',
    role: 'audit',
    summary: 'How far the verification of this node has come, or what the last one found.',
  }),
  adminRoute('POST', '/accounts/verify/stop', stopVerification, {
    name: 'stopVerification',
    role: 'audit',
    summary: 'Ends the verification that is running on this node.',
  }),
]
