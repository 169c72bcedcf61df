/** The calls about grants. A call that widens access needs the role `own`; one that takes it away needs `operate`. */

import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { explainGrant, listExpiringGrants, listGrants, listGrantTemplates } from '@rollcall/admin/grants/grants'
import { previewGrant } from '@rollcall/admin/grants/preview'
import { proposeGrant } from '@rollcall/admin/grants/proposal'
import { type AdminRoute, adminRoute } from './route.ts'

const GRANT_PATH = '/registries/{namespace}/grants/{sender_id}'

export const GRANT_ROUTES: readonly AdminRoute[] = [
  adminRoute(listGrants, {
    method: 'GET',
    path: '/grants',
    name: 'listGrants',
    role: 'read',
    summary: 'The grants that are not revoked, past and future ones included.',
  }),
  adminRoute(listExpiringGrants, {
    method: 'GET',
    path: '/grants/expiring',
    name: 'expiringGrants',
    role: 'read',
    summary: 'Grants that end within so many days.',
  }),
  adminRoute(listGrantTemplates, {
    method: 'GET',
    path: '/registries/{namespace}/grant-templates',
    name: 'listGrantTemplates',
    role: 'read',
    summary: 'Grants that are often made, with their terms for this registry.',
  }),
  adminRoute(explainGrant, {
    method: 'GET',
    path: GRANT_PATH,
    name: 'explainGrant',
    role: 'read',
    summary: 'What the grant that counts now means, attribute by attribute.',
  }),
  adminRoute(setGrant, {
    method: 'POST',
    path: GRANT_PATH,
    name: 'setGrant',
    role: 'own',
    summary: 'Grants the terms in place of what is granted, or beside a grant of another time.',
  }),
  adminRoute(revokeGrant, {
    method: 'POST',
    path: `${GRANT_PATH}/revoke`,
    name: 'revokeGrant',
    role: 'operate',
    summary: 'Revokes every grant of a participant in a registry.',
  }),
  adminRoute(previewGrant, {
    method: 'POST',
    path: `${GRANT_PATH}/preview`,
    name: 'previewGrant',
    role: 'read',
    summary:
      'A synthetic record, whole and as the participant would see it: under the grant in force, or under the `terms` that are given.',
  }),
  adminRoute(proposeGrant, {
    method: 'GET',
    path: `${GRANT_PATH}/proposal`,
    name: 'proposeGrant',
    role: 'operate',
    heavy: 'auditLog',
    summary: 'A narrower grant, from what the participant has used, as the audit log says.',
  }),
]
