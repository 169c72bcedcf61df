/** Calls about the accounts of access. */
import { listAccounts, listEmergencies, reviewEmergency } from '../../admin/audit-list.ts'
import { auditPerson } from '../../admin/audit-person.ts'
import { type AdminRoute, route } from './route.ts'

export const ACCOUNT_ROUTES: readonly AdminRoute[] = [
  route(listAccounts, {
    ...{ method: 'GET', path: '/accounts', name: 'listAccounts', role: 'read' },
    summary: 'The newest accounts of access. They name no person.',
  }),
  route(auditPerson, {
    ...{ method: 'POST', path: '/accounts/person', name: 'auditPerson', role: 'audit' },
    summary: 'Who has seen, written, or asked about the data of a person, in all registries.',
  }),
  route(listEmergencies, {
    ...{ method: 'GET', path: '/emergencies', name: 'listEmergencies', role: 'audit' },
    summary: 'Emergencies that nobody has reviewed, the oldest first, with their reasons.',
  }),
  route(reviewEmergency, {
    ...{
      method: 'POST',
      path: '/emergencies/{id}/reviews',
      name: 'reviewEmergency',
      role: 'audit',
      status: 201,
    },
    summary: 'Says that an emergency was reviewed, and what was found.',
  }),
]
