/** Calls about deliveries. */

import { listDeliveries, showDelivery } from '../../admin/deliveries.ts'
import { openDeliveryBody } from '../../admin/message-bodies.ts'
import { type AdminRoute, route } from './route.ts'

export const DELIVERY_ROUTES: readonly AdminRoute[] = [
  route(listDeliveries, {
    ...{ method: 'GET', path: '/deliveries', name: 'listDeliveries', role: 'read' },
    summary: 'What is sent to participants, the newest first.',
  }),
  route(showDelivery, {
    ...{ method: 'GET', path: '/deliveries/{id}', name: 'showDelivery', role: 'read', hidden: ['body'] },
    summary: 'One delivery with every attempt, without its message.',
  }),
  route(openDeliveryBody, {
    ...{ method: 'POST', path: '/deliveries/{id}/body', name: 'openDeliveryBody', role: 'audit' },
    summary: 'The message of a delivery, opened. The look is accounted with its reason before.',
  }),
]
