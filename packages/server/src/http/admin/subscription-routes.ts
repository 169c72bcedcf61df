/** Calls about subscriptions. */
import { listSubscriptions, showSubscription } from '../../admin/subscriptions.ts'
import { type AdminRoute, route } from './route.ts'

export const SUBSCRIPTION_ROUTES: readonly AdminRoute[] = [
  route(listSubscriptions, {
    ...{ method: 'GET', path: '/subscriptions', name: 'listSubscriptions', role: 'read' },
    summary: 'Subscriptions of participants, the newest first: to which events, and never about whom.',
  }),
  route(showSubscription, {
    ...{ method: 'GET', path: '/subscriptions/{code}', name: 'showSubscription', role: 'read' },
    ...{ hidden: ['criteria'], summary: 'One subscription, without its filter.' },
  }),
]
