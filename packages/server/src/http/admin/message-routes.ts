/** The calls of the admin API about messages, and about what the server as a whole has done. */
import { makeEvidence } from '@rollcall/admin/audit/evidence'
import { openBodies } from '@rollcall/admin/messages/bodies'
import { listMessages } from '@rollcall/admin/messages/messages'
import { showMessage } from '@rollcall/admin/messages/timeline'
import { showOverview } from '@rollcall/admin/overview'
import { type AdminRoute, adminRoute } from './route.ts'

export const MESSAGE_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/overview', showOverview, {
    name: 'showOverview',
    role: 'read',
    summary: 'The last 24 hours by hour, what waits and what fails, what ends soon, and the health of the server.',
  }),
  adminRoute('GET', '/messages', listMessages, {
    name: 'listMessages',
    role: 'read',
    heavy: 'auditLog',
    summary: 'Messages that were answered, acknowledged or sent, the newest first. They name no person.',
  }),
  adminRoute('GET', '/messages/{message_id}', showMessage, {
    name: 'showMessage',
    role: 'read',
    summary: 'The timeline of a message: every step with its time, and what is still to come. It names no person.',
  }),
  adminRoute('POST', '/messages/{message_id}/bodies', openBodies, {
    name: 'openBodies',
    role: 'audit',
    summary: 'What is stored of the content of a message, opened. The access has an audit entry with its reason before.',
  }),
  adminRoute('GET', '/messages/{message_id}/evidence', makeEvidence, {
    name: 'makeEvidence',
    role: 'audit',
    summary: 'The audit entries of a message, for whoever verifies it without the database.',
  }),
]
