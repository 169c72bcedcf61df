/** THE table of the admin API: a row for each call. The routes and the OpenAPI document are made of it. */
import { makeEvidence } from '../../admin/audit-evidence.ts'
import { listAccounts, listEmergencies, reviewEmergency } from '../../admin/audit-list.ts'
import { auditPerson } from '../../admin/audit-person.ts'
import { revokeConsents, withdrawConsent } from '../../admin/consents.ts'
import { listDeliveries, showDelivery } from '../../admin/deliveries.ts'
import { addHold, listHolds, removeHold } from '../../admin/holds.ts'
import { countPrunable, showRetention } from '../../admin/retention.ts'
import { PARTICIPANT_ROUTES } from './participant-routes.ts'
import { REGISTRY_ROUTES } from './registry-routes.ts'
import { type AdminRoute, route } from './route.ts'
import { SUBSCRIPTION_ROUTES } from './subscription-routes.ts'

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...REGISTRY_ROUTES,
  ...PARTICIPANT_ROUTES,
  ...SUBSCRIPTION_ROUTES,
  route(listDeliveries, {
    ...{ method: 'GET', path: '/deliveries', name: 'listDeliveries', role: 'read' },
    summary: 'What is sent to participants, the newest first.',
  }),
  route(showDelivery, {
    ...{ method: 'GET', path: '/deliveries/{id}', name: 'showDelivery', role: 'read', hidden: ['body'] },
    summary: 'One delivery with every attempt, without its message.',
  }),
  route(listAccounts, {
    ...{ method: 'GET', path: '/accounts', name: 'listAccounts', role: 'read' },
    summary: 'The newest accounts of access. They name no person.',
  }),
  route(auditPerson, {
    ...{ method: 'POST', path: '/accounts/person', name: 'auditPerson', role: 'audit' },
    summary: 'Who has seen, written, or asked about the data of a person, in all registries.',
  }),
  route(makeEvidence, {
    ...{ method: 'GET', path: '/messages/{message_id}/evidence', name: 'makeEvidence', role: 'audit' },
    summary: 'What was accounted of a message, for whoever verifies it without the database.',
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
  route(listHolds, {
    ...{ method: 'GET', path: '/holds', name: 'listHolds', role: 'read' },
    summary: 'The holds in force, the oldest first. Of a person they do not say who it is.',
  }),
  route(addHold, {
    ...{ method: 'POST', path: '/holds', name: 'addHold', role: 'operate', status: 201 },
    summary: 'Stops prune and erase for a person, a participant or a period.',
  }),
  route(removeHold, {
    ...{ method: 'POST', path: '/holds/{id}/remove', name: 'removeHold', role: 'own' },
    summary: 'Ends a hold: what it covered is deleted by the next prune.',
  }),
  route(showRetention, {
    ...{ method: 'GET', path: '/retention/ages', name: 'showRetention', role: 'read' },
    summary: 'What is stored for how long.',
  }),
  route(countPrunable, {
    ...{ method: 'GET', path: '/retention/prunable', name: 'countPrunable', role: 'operate' },
    summary:
      'What prune would delete now. It deletes nothing, and verifies the accounts, which may take long.',
  }),
  route(withdrawConsent, {
    ...{ method: 'POST', path: '/consents/withdraw', name: 'withdrawConsent', role: 'consent' },
    summary:
      'Withdraws a signed consent by authority and jti, or what a person has consented to for a purpose. What is begun is stopped.',
  }),
  route(revokeConsents, {
    ...{ method: 'POST', path: '/consents/revoke', name: 'revokeConsents', role: 'consent' },
    summary: 'Withdraws the signed consents of a revocation list of their authority.',
  }),
]
