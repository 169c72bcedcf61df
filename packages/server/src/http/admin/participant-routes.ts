/** Calls about participants. */
import { showParticipant } from '../../admin/participant-check.ts'
import { promoteParticipant } from '../../admin/participant-promote.ts'
import { listParticipants } from '../../admin/participants.ts'
import { type AdminRoute, route } from './route.ts'

export const PARTICIPANT_ROUTES: readonly AdminRoute[] = [
  route(listParticipants, {
    ...{ method: 'GET', path: '/participants', name: 'listParticipants', role: 'read' },
    summary: 'Every participant, by sender_id.',
  }),
  route(showParticipant, {
    ...{ method: 'GET', path: '/participants/{sender_id}', name: 'showParticipant', role: 'read' },
    summary: 'One participant, with the reports of its checks.',
  }),
  route(promoteParticipant, {
    ...{ method: 'POST', path: '/participants/{sender_id}/promote', name: 'promoteParticipant', role: 'own' },
    summary:
      'Makes a sandbox participant live after its check: new keys and a new secret; all of the sandbox ends.',
  }),
]
