/** The calls of the admin API about operators and their tokens. */
import { addOperator, listOperators, revokeOperator } from '@rollcall/admin/operators/operators'
import { endSessions, listSessions } from '@rollcall/admin/operators/sessions'
import { type AdminRoute, adminRoute } from './route.ts'

export const OPERATOR_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/operators', listOperators, {
    name: 'listOperators',
    role: 'own',
    summary: 'Every operator token, without its secret.',
  }),
  adminRoute('POST', '/operators', addOperator, {
    name: 'addOperator',
    role: 'own',
    status: 201,
    summary: 'Makes an operator token, which is in this answer and in no other.',
  }),
  // The name is in the body and not in the path, because it may have any character.
  adminRoute('POST', '/operators/revoke', revokeOperator, {
    name: 'revokeOperator',
    role: 'own',
    summary: 'Ends an operator token: from the next call on it is refused.',
  }),
  adminRoute('GET', '/operators/sessions', listSessions, {
    name: 'listSessions',
    role: 'own',
    summary: 'Who is signed in to the console, without the secrets of the sessions.',
  }),
  adminRoute('POST', '/operators/sessions/end', endSessions, {
    name: 'endSessions',
    role: 'own',
    summary: 'Signs an operator out: one session, or all of them.',
  }),
]
