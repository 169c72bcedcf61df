/** The table of the partner API: a row for each call. Every call is about the participant of the session alone. */

import { showChecklist } from '@rollcall/admin/partner/checklist'
import { listOwnDeliveries, replayOwnDeliveries, showOwnDelivery } from '@rollcall/admin/partner/deliveries'
import { listExampleSearches } from '@rollcall/admin/partner/examples'
import { listOwnGrants, listOwnSubscriptions, showOwnParticipant } from '@rollcall/admin/partner/partner'
import { type PartnerRoute, partnerRoute } from './route.ts'

export const PARTNER_ROUTES: readonly PartnerRoute[] = [
  partnerRoute(showOwnParticipant, {
    method: 'GET',
    path: '/self',
    name: 'showPartner',
    summary: 'The participant: its keys, addresses, quotas and what it has used of them.',
  }),
  partnerRoute(showChecklist, {
    method: 'GET',
    path: '/checklist',
    name: 'showPartnerChecklist',
    summary: 'How far its system has come, from the first key to the first callback.',
  }),
  partnerRoute(listOwnGrants, {
    method: 'GET',
    path: '/grants',
    name: 'listPartnerGrants',
    summary: 'What it may do in each registry, in plain words.',
  }),
  partnerRoute(listExampleSearches, {
    method: 'GET',
    path: '/examples',
    name: 'listPartnerExamples',
    summary: 'A first search in each registry, for a shell and in TypeScript.',
  }),
  partnerRoute(listOwnSubscriptions, {
    method: 'GET',
    path: '/subscriptions',
    name: 'listPartnerSubscriptions',
    summary: 'Its subscriptions, the newest first.',
  }),
  partnerRoute(listOwnDeliveries, {
    method: 'GET',
    path: '/deliveries',
    name: 'listPartnerDeliveries',
    summary: 'What is sent to it, the newest first.',
  }),
  partnerRoute(showOwnDelivery, {
    method: 'GET',
    path: '/deliveries/{message_id}',
    name: 'showPartnerDelivery',
    summary: 'One delivery with every attempt, without its message.',
  }),
  partnerRoute(replayOwnDeliveries, {
    method: 'POST',
    path: '/deliveries/replay',
    name: 'replayPartnerDeliveries',
    summary: 'Sends deliveries that came to their end again.',
  }),
]
