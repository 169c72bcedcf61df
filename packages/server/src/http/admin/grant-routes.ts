/** The calls about grants. Setting a grant needs the role `own`; revoking grants needs `operate`. */

import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { explainGrant, listExpiringGrants, listGrants, listGrantTemplates } from '@rollcall/admin/grants/grants'
import { previewGrant } from '@rollcall/admin/grants/preview'
import { proposeGrant } from '@rollcall/admin/grants/proposal'
import { type AdminRoute, adminRoute } from './route.ts'

const GRANT_PATH = '/registries/{namespace}/grants/{sender_id}'

export const GRANT_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/grants', listGrants, {
    name: 'listGrants',
    role: 'read',
    summary: 'The grants that are not revoked, past and future ones included.',
  }),
  adminRoute('GET', '/grants/expiring', listExpiringGrants, {
    name: 'expiringGrants',
    role: 'read',
    summary: 'Grants that end within so many days.',
  }),
  adminRoute('GET', '/registries/{namespace}/grant-templates', listGrantTemplates, {
    name: 'listGrantTemplates',
    role: 'read',
    summary: 'Grants that are often made, with their terms for this registry.',
  }),
  adminRoute('GET', GRANT_PATH, explainGrant, {
    name: 'explainGrant',
    role: 'read',
    summary: 'What the grant that counts now means, attribute by attribute.',
  }),
  adminRoute('POST', GRANT_PATH, setGrant, {
    name: 'setGrant',
    role: 'own',
    summary: 'Grants the terms in place of what is granted, or beside a grant of another time.',
  }),
  adminRoute('POST', `${GRANT_PATH}/revoke`, revokeGrant, {
    name: 'revokeGrant',
    role: 'operate',
    summary: 'Revokes every grant of a participant in a registry.',
  }),
  adminRoute('POST', `${GRANT_PATH}/preview`, previewGrant, {
    name: 'previewGrant',
    role: 'read',
    summary:
      'A synthetic record, whole and as the participant would see it: under the grant in force, or under the `terms` that are given.',
  }),
  adminRoute('GET', `${GRANT_PATH}/proposal`, proposeGrant, {
    name: 'proposeGrant',
    role: 'operate',
    heavy: 'auditLog',
    summary: 'A narrower grant, from what the participant has used, as the audit log says.',
  }),
]
