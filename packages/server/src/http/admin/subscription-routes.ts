/** The calls of the admin API about subscriptions. */
import { resumeSubscription, testSubscription } from '@rollcall/admin/events/subscription-mailbox'
import { cancelSubscription, listSubscriptions, showSubscription } from '@rollcall/admin/events/subscriptions'
import { type AdminRoute, adminRoute } from './route.ts'

const SUBSCRIPTION_PATH = '/subscriptions/{code}'

export const SUBSCRIPTION_ROUTES: readonly AdminRoute[] = [
  adminRoute('GET', '/subscriptions', listSubscriptions, {
    name: 'listSubscriptions',
    role: 'read',
    summary: 'Subscriptions of participants, the newest first: to which events, and never about whom.',
  }),
  adminRoute('GET', SUBSCRIPTION_PATH, showSubscription, {
    name: 'showSubscription',
    role: 'read',
    hidden: ['criteria'],
    summary: 'One subscription with its mailbox, without its filter.',
  }),
  adminRoute('POST', `${SUBSCRIPTION_PATH}/cancel`, cancelSubscription, {
    name: 'cancelSubscription',
    role: 'operate',
    summary: 'Ends a subscription: it matches nothing more, and what waits for it is not sent.',
  }),
  adminRoute('POST', `${SUBSCRIPTION_PATH}/test`, testSubscription, {
    name: 'testSubscription',
    role: 'operate',
    summary: 'Queues one notification with a synthetic record, marked as a test.',
  }),
  adminRoute('POST', `${SUBSCRIPTION_PATH}/resume`, resumeSubscription, {
    name: 'resumeSubscription',
    role: 'operate',
    summary: 'Opens a suspended subscription again with its mailbox: what waits there is sent.',
  }),
]
