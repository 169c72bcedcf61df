/** Calls about what the server does as a whole, and about messages. */
import { makeEvidence } from '../../admin/audit-evidence.ts'
import { listMessages } from '../../admin/messages.ts'
import { showOverview } from '../../admin/overview.ts'
import { type AdminRoute, route } from './route.ts'

export const MESSAGE_ROUTES: readonly AdminRoute[] = [
  route(showOverview, {
    ...{ method: 'GET', path: '/overview', name: 'showOverview', role: 'read' },
    summary:
      'The last 24 hours by hour, what waits and what fails, what ends soon, and the health of the server.',
  }),
  route(listMessages, {
    ...{ method: 'GET', path: '/messages', name: 'listMessages', role: 'read' },
    summary: 'Messages that were answered, acknowledged or sent, the newest first. They name no person.',
  }),
  route(makeEvidence, {
    ...{ method: 'GET', path: '/messages/{message_id}/evidence', name: 'makeEvidence', role: 'audit' },
    summary: 'What was accounted of a message, for whoever verifies it without the database.',
  }),
]
