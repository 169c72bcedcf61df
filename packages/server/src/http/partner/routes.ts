/** The table of the partner API: a row for each call. Every call is about the participant of the session alone. */

import { showChecklist } from '@rollcall/admin/partner/checklist'
import { listOwnDeliveries, replayOwnDeliveries, showOwnDelivery } from '@rollcall/admin/partner/deliveries'
import { listExampleSearches } from '@rollcall/admin/partner/examples'
import { listOwnGrants, listOwnSubscriptions, showOwnParticipant } from '@rollcall/admin/partner/partner'
import { type PartnerRoute, partnerRoute } from './route.ts'

export const PARTNER_ROUTES: readonly PartnerRoute[] = [
  partnerRoute('GET', '/self', showOwnParticipant, {
    name: 'showPartner',
    summary: 'The participant: its keys, addresses, quotas and what it has used of them.',
  }),
  partnerRoute('GET', '/checklist', showChecklist, {
    name: 'showPartnerChecklist',
    summary: 'How far its system has come, from the first key to the first callback.',
  }),
  partnerRoute('GET', '/grants', listOwnGrants, {
    name: 'listPartnerGrants',
    summary: 'What it may do in each registry, in plain words.',
  }),
  partnerRoute('GET', '/examples', listExampleSearches, {
    name: 'listPartnerExamples',
    summary: 'A first search in each registry, for a shell and in TypeScript.',
  }),
  partnerRoute('GET', '/subscriptions', listOwnSubscriptions, {
    name: 'listPartnerSubscriptions',
    summary: 'Its subscriptions, the newest first.',
  }),
  partnerRoute('GET', '/deliveries', listOwnDeliveries, {
    name: 'listPartnerDeliveries',
    summary: 'What is sent to it, the newest first.',
  }),
  partnerRoute('GET', '/deliveries/{message_id}', showOwnDelivery, {
    name: 'showPartnerDelivery',
    summary: 'One delivery with every attempt, without its message.',
  }),
  partnerRoute('POST', '/deliveries/replay', replayOwnDeliveries, {
    name: 'replayPartnerDeliveries',
    summary: 'Sends deliveries that came to their end again.',
  }),
]
