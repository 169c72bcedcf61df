/** The table of the admin API: a row for each call. The routes and the OpenAPI document are made from it. */
import { revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import { addHold, listHolds, removeHold } from '@rollcall/admin/persons/holds'
import { countPrunable, showRetention } from '@rollcall/admin/persons/retention'
import { AUDIT_ROUTES } from './audit-routes.ts'
import { DELIVERY_ROUTES } from './delivery-routes.ts'
import { GRANT_ROUTES } from './grant-routes.ts'
import { MESSAGE_ROUTES } from './message-routes.ts'
import { OPERATOR_ROUTES } from './operator-routes.ts'
import { PARTICIPANT_ROUTES } from './participant-routes.ts'
import { PROPOSAL_ROUTES } from './proposal-routes.ts'
import { REGISTRY_ROUTES } from './registry-routes.ts'
import { type AdminRoute, adminRoute } from './route.ts'
import { SETTING_ROUTES } from './setting-routes.ts'
import { SUBSCRIPTION_ROUTES } from './subscription-routes.ts'

export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...MESSAGE_ROUTES,
  ...REGISTRY_ROUTES,
  ...PARTICIPANT_ROUTES,
  ...GRANT_ROUTES,
  ...SUBSCRIPTION_ROUTES,
  ...OPERATOR_ROUTES,
  ...SETTING_ROUTES,
  ...DELIVERY_ROUTES,
  ...AUDIT_ROUTES,
  ...PROPOSAL_ROUTES,
  adminRoute('GET', '/holds', listHolds, {
    name: 'listHolds',
    role: 'read',
    summary: 'The holds in force, the oldest first. Of a person they do not say who it is.',
  }),
  adminRoute('POST', '/holds', addHold, {
    name: 'addHold',
    role: 'operate',
    status: 201,
    summary: 'Stops prune and erase for a person, a participant or a period.',
  }),
  adminRoute('POST', '/holds/{id}/remove', removeHold, {
    name: 'removeHold',
    role: 'own',
    summary: 'Ends a hold: what it covered is deleted by the next prune.',
  }),
  adminRoute('GET', '/retention/ages', showRetention, {
    name: 'showRetention',
    role: 'read',
    summary: 'What is stored for how long.',
  }),
  adminRoute('GET', '/retention/prunable', countPrunable, {
    name: 'countPrunable',
    role: 'operate',
    heavy: 'prunable',
    summary: 'What prune would delete now. It deletes nothing, and verifies the audit log, which may take long.',
  }),
  adminRoute('POST', '/consents/withdraw', withdrawConsent, {
    name: 'withdrawConsent',
    role: 'consent',
    summary:
      'Withdraws a signed consent by authority and jti, or what a person has consented to for a purpose. What is begun is stopped.',
  }),
  adminRoute('POST', '/consents/revoke', revokeConsents, {
    name: 'revokeConsents',
    role: 'consent',
    summary: 'Withdraws the signed consents of a revocation list of their authority.',
  }),
]
