/**
 * The calls about participants. Calls that can give a participant's system more access, by a key, a secret, a policy or an
 * address, need the role `own`, and so does the removal of a participant. Other calls that change something need `operate`.
 */
import { changeCallback, testCallback } from '@rollcall/admin/callbacks/callbacks'
import { checkParticipant } from '@rollcall/admin/participants/check'
import { addParticipantKeys, revokeParticipantKey } from '@rollcall/admin/participants/keys'
import { changeParticipantLimits } from '@rollcall/admin/participants/limits'
import {
  addParticipant,
  disableParticipant,
  enableParticipant,
  listParticipants,
  rotateParticipantSecret,
} from '@rollcall/admin/participants/participants'
import { allowParticipantHost, changeParticipantPolicy, removeParticipantHost } from '@rollcall/admin/participants/policy'
import { promoteParticipant } from '@rollcall/admin/participants/promote'
import { showParticipant } from '@rollcall/admin/participants/show'
import { changeParticipantSubscriptions } from '@rollcall/admin/participants/subscriptions'
import { makePartnerLink, signPartnerOut } from '@rollcall/admin/partner/link'
import { removeParticipant } from '@rollcall/admin/removal'
import { type AdminRoute, adminRoute } from './route.ts'

const PARTICIPANT_PATH = '/participants/{sender_id}'

export const PARTICIPANT_ROUTES: readonly AdminRoute[] = [
  adminRoute(listParticipants, {
    method: 'GET',
    path: '/participants',
    name: 'listParticipants',
    role: 'read',
    summary: 'Every participant, by sender_id.',
  }),
  adminRoute(addParticipant, {
    method: 'POST',
    path: '/participants',
    name: 'addParticipant',
    role: 'own',
    status: 201,
    summary: 'Adds a participant. Its client secret is in this answer and in no other.',
  }),
  adminRoute(showParticipant, {
    method: 'GET',
    path: PARTICIPANT_PATH,
    name: 'showParticipant',
    role: 'read',
    summary:
      'One participant: its policy, keys, secrets without values, addresses, grants, quotas with their use, and the reports of its checks.',
  }),
  adminRoute(disableParticipant, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/disable`,
    name: 'disableParticipant',
    role: 'operate',
    summary: 'Disables a participant: within a second no server accepts its tokens.',
  }),
  adminRoute(enableParticipant, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/enable`,
    name: 'enableParticipant',
    role: 'own',
    summary: 'Enables a participant again: its secrets and unexpired tokens are valid again.',
  }),
  adminRoute(addParticipantKeys, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/keys`,
    name: 'addParticipantKeys',
    role: 'own',
    status: 201,
    summary: 'Registers public keys of a participant. A private key is refused.',
  }),
  adminRoute(revokeParticipantKey, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/keys/revoke`,
    name: 'revokeParticipantKey',
    role: 'operate',
    summary: 'Revokes a registered key for ever; within a second no server accepts it.',
  }),
  adminRoute(changeParticipantPolicy, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/policy`,
    name: 'changeParticipantPolicy',
    role: 'own',
    summary: 'Changes what is given of how a participant signs and encrypts, and of where it publishes keys.',
  }),
  adminRoute(changeCallback, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/callback`,
    name: 'changeCallback',
    role: 'own',
    summary:
      'Changes what is given of where and how a participant takes callbacks and notifications. Credentials are never answered.',
  }),
  adminRoute(testCallback, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/callback/test`,
    name: 'testCallback',
    role: 'operate',
    summary: 'Sends a signed test message to a participant, and says how every step went.',
  }),
  adminRoute(allowParticipantHost, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/hosts`,
    name: 'allowParticipantHost',
    role: 'own',
    summary: 'Allows our requests to a host of a participant, in place of what was allowed for that host.',
  }),
  adminRoute(removeParticipantHost, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/hosts/remove`,
    name: 'removeParticipantHost',
    role: 'operate',
    summary: 'Ends what was allowed for a host of a participant.',
  }),
  adminRoute(rotateParticipantSecret, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/secrets`,
    name: 'rotateParticipantSecret',
    role: 'own',
    status: 201,
    summary:
      'Gives a participant a new client secret, which is in this answer and in no other. The one before it stays valid until the next rotation.',
  }),
  adminRoute(changeParticipantSubscriptions, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/subscriptions`,
    name: 'changeParticipantSubscriptions',
    role: 'operate',
    summary: 'Changes how many subscriptions a participant may have.',
  }),
  adminRoute(makePartnerLink, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/link`,
    name: 'makePartnerLink',
    role: 'operate',
    status: 201,
    summary: 'A link by which the participant signs in to the partner page, once. Its code is in this answer and in no other.',
  }),
  adminRoute(signPartnerOut, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/sign-out`,
    name: 'signPartnerOut',
    role: 'operate',
    summary: 'Ends the sessions of a participant on the partner page, and the links to it.',
  }),
  adminRoute(changeParticipantLimits, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/limits`,
    name: 'changeParticipantLimits',
    role: 'operate',
    summary: 'Changes how much a participant may ask at once: page size, requests a second, requests at a time.',
  }),
  adminRoute(checkParticipant, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/check`,
    name: 'checkParticipant',
    role: 'operate',
    summary:
      'Looks once at what the system of a sandbox participant has done since a time, and stores the report. It may send a test notification, and a callback once more.',
  }),
  adminRoute(promoteParticipant, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/promote`,
    name: 'promoteParticipant',
    role: 'own',
    summary: 'Makes a sandbox participant live after its check: new keys and a new secret; all of the sandbox ends.',
  }),
  adminRoute(removeParticipant, {
    method: 'POST',
    path: `${PARTICIPANT_PATH}/remove`,
    name: 'removeParticipant',
    role: 'own',
    summary: 'Removes a participant with what is stored of it. With `dry_run` it only counts what is pending.',
  }),
]
