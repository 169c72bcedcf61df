/** The calls of the admin API about deliveries. */

import { cancelDeliveries, replayDeliveries, retryDeliveries } from '@rollcall/admin/deliveries/changes'
import { listDeliveries, showDelivery } from '@rollcall/admin/deliveries/deliveries'
import { listDestinations } from '@rollcall/admin/deliveries/destinations'
import { listMailboxes } from '@rollcall/admin/deliveries/mailboxes'
import { openDeliveryBody } from '@rollcall/admin/messages/bodies'
import { type AdminRoute, adminRoute } from './route.ts'

export const DELIVERY_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/deliveries', listDeliveries, {
    name: 'listDeliveries',
    role: 'read',
    summary: 'What is sent to participants, the newest first.',
  }),
  adminRoute('GET', '/deliveries/{id}', showDelivery, {
    name: 'showDelivery',
    role: 'read',
    hidden: ['body'],
    summary: 'One delivery with every attempt, without its message.',
  }),
  adminRoute('POST', '/deliveries/{id}/body', openDeliveryBody, {
    name: 'openDeliveryBody',
    role: 'audit',
    summary: 'The message of a delivery, opened. The access has an audit entry with its reason before.',
  }),
  adminRoute('POST', '/deliveries/retry', retryDeliveries, {
    name: 'retryDeliveries',
    role: 'operate',
    summary: 'Attempts deliveries that wait or were given up now; with `dry_run` it says how many, and of whom.',
  }),
  adminRoute('POST', '/deliveries/replay', replayDeliveries, {
    name: 'replayDeliveries',
    role: 'operate',
    summary: 'Sends deliveries that came to their end again; with `dry_run` it says how many, and of whom.',
  }),
  adminRoute('POST', '/deliveries/cancel', cancelDeliveries, {
    name: 'cancelDeliveries',
    role: 'operate',
    summary: 'Stops the attempts at deliveries; with `dry_run` it says how many, and of whom.',
  }),
  adminRoute('GET', '/destinations', listDestinations, {
    name: 'listDestinations',
    role: 'read',
    summary: 'Where deliveries wait or were given up, why, and what to do.',
  }),
  adminRoute('GET', '/mailboxes', listMailboxes, {
    name: 'listMailboxes',
    role: 'read',
    summary: 'Mailboxes with what waits in them, the newest first.',
  }),
]
