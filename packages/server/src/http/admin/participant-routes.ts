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
  adminRoute('GET', '/participants', listParticipants, {
    name: 'listParticipants',
    role: 'read',
    summary: 'Every participant, by sender_id.',
  }),
  adminRoute('POST', '/participants', addParticipant, {
    name: 'addParticipant',
    role: 'own',
    status: 201,
    summary: 'Adds a participant. Its client secret is in this answer and in no other.',
  }),
  adminRoute('GET', PARTICIPANT_PATH, showParticipant, {
    name: 'showParticipant',
    role: 'read',
    summary:
      'One participant: its policy, keys, secrets without values, addresses, grants, quotas with their use, and the reports of its checks.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/disable`, disableParticipant, {
    name: 'disableParticipant',
    role: 'operate',
    summary: 'Disables a participant: within a second no server accepts its tokens.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/enable`, enableParticipant, {
    name: 'enableParticipant',
    role: 'own',
    summary: 'Enables a participant again: its secrets and unexpired tokens are valid again.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/keys`, addParticipantKeys, {
    name: 'addParticipantKeys',
    role: 'own',
    status: 201,
    summary: 'Registers public keys of a participant. A private key is refused.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/keys/revoke`, revokeParticipantKey, {
    name: 'revokeParticipantKey',
    role: 'operate',
    summary: 'Revokes a registered key for ever; within a second no server accepts it.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/policy`, changeParticipantPolicy, {
    name: 'changeParticipantPolicy',
    role: 'own',
    summary: 'Changes what is given of how a participant signs and encrypts, and of where it publishes keys.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/callback`, changeCallback, {
    name: 'changeCallback',
    role: 'own',
    summary:
      'Changes what is given of where and how a participant takes callbacks and notifications. Credentials are never answered.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/callback/test`, testCallback, {
    name: 'testCallback',
    role: 'operate',
    summary: 'Sends a signed test message to a participant, and says how every step went.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/hosts`, allowParticipantHost, {
    name: 'allowParticipantHost',
    role: 'own',
    summary: 'Allows our requests to a host of a participant, in place of what was allowed for that host.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/hosts/remove`, removeParticipantHost, {
    name: 'removeParticipantHost',
    role: 'operate',
    summary: 'Ends what was allowed for a host of a participant.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/secrets`, rotateParticipantSecret, {
    name: 'rotateParticipantSecret',
    role: 'own',
    status: 201,
    summary:
      'Gives a participant a new client secret, which is in this answer and in no other. The one before it stays valid until the next rotation.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/subscriptions`, changeParticipantSubscriptions, {
    name: 'changeParticipantSubscriptions',
    role: 'operate',
    summary: 'Changes how many subscriptions a participant may have.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/link`, makePartnerLink, {
    name: 'makePartnerLink',
    role: 'operate',
    status: 201,
    summary: 'A link by which the participant signs in to the partner page, once. Its code is in this answer and in no other.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/sign-out`, signPartnerOut, {
    name: 'signPartnerOut',
    role: 'operate',
    summary: 'Ends the sessions of a participant on the partner page, and the links to it.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/limits`, changeParticipantLimits, {
    name: 'changeParticipantLimits',
    role: 'operate',
    summary: 'Changes how much a participant may ask at once: page size, requests a second, requests at a time.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/check`, checkParticipant, {
    name: 'checkParticipant',
    role: 'operate',
    summary:
      'Looks once at what the system of a sandbox participant has done since a time, and stores the report. It may send a test notification, and a callback once more.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/promote`, promoteParticipant, {
    name: 'promoteParticipant',
    role: 'own',
    summary: 'Makes a sandbox participant live after its check: new keys and a new secret; all of the sandbox ends.',
  }),
  adminRoute('POST', `${PARTICIPANT_PATH}/remove`, removeParticipant, {
    name: 'removeParticipant',
    role: 'own',
    summary: 'Removes a participant with what is stored of it. With `dry_run` it only counts what is pending.',
  }),
]
