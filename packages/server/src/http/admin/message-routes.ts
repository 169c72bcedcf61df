/** The calls of the admin API about messages, and about what the server as a whole has done. */
import { makeEvidence } from '@rollcall/admin/audit/evidence'
import { openBodies } from '@rollcall/admin/messages/bodies'
import { listMessages } from '@rollcall/admin/messages/messages'
import { showMessage } from '@rollcall/admin/messages/timeline'
import { showOverview } from '@rollcall/admin/overview'
import { type AdminRoute, adminRoute } from './route.ts'

export const MESSAGE_ROUTES: readonly AdminRoute[] = [
  adminRoute(showOverview, {
    method: 'GET',
    path: '/overview',
    name: 'showOverview',
    role: 'read',
    summary: 'The last 24 hours by hour, what waits and what fails, what ends soon, and the health of the server.',
  }),
  adminRoute(listMessages, {
    method: 'GET',
    path: '/messages',
    name: 'listMessages',
    role: 'read',
    heavy: 'auditLog',
    summary: 'Messages that were answered, acknowledged or sent, the newest first. They name no person.',
  }),
  adminRoute(showMessage, {
    method: 'GET',
    path: '/messages/{message_id}',
    name: 'showMessage',
    role: 'read',
    summary: 'The timeline of a message: every step with its time, and what is still to come. It names no person.',
  }),
  adminRoute(openBodies, {
    method: 'POST',
    path: '/messages/{message_id}/bodies',
    name: 'openBodies',
    role: 'audit',
    summary: 'What is stored of the content of a message, opened. The access has an audit entry with its reason before.',
  }),
  adminRoute(makeEvidence, {
    method: 'GET',
    path: '/messages/{message_id}/evidence',
    name: 'makeEvidence',
    role: 'audit',
    summary: 'The audit entries of a message, for whoever verifies it without the database.',
  }),
]
