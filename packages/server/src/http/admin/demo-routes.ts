/** Calls that the server of a demo has beside those of every server. */
import {
  showDemoReceiver,
  showSimulation,
  switchDemoReceiver,
  switchSimulation,
} from '@rollcall/admin/demo/beside-server'
import { type AdminRoute, route } from './route.ts'

export const DEMO_ROUTES: readonly AdminRoute[] = [
  route(showDemoReceiver, {
    method: 'GET',
    path: '/demo/receiver',
    name: 'showDemoReceiver',
    role: 'read',
    summary: 'The receiver of callbacks that the demo runs: whether it answers, and what it has taken.',
  }),
  route(switchDemoReceiver, {
    method: 'POST',
    path: '/demo/receiver',
    name: 'switchDemoReceiver',
    role: 'operate',
    summary: 'Makes the receiver of the demo fail, or lets it answer again.',
  }),
  route(showSimulation, {
    method: 'GET',
    path: '/demo/simulation',
    name: 'showSimulation',
    role: 'read',
    summary: 'Whether the simulation of the demo runs.',
  }),
  route(switchSimulation, {
    method: 'POST',
    path: '/demo/simulation',
    name: 'switchSimulation',
    role: 'operate',
    summary: 'Starts the simulation of the demo, or stops it: a few events and searches a second.',
  }),
]
