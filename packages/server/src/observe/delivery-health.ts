/** How what is sent to each participant stands, read from the database when metrics are collected. */
import { Gauge, type Registry } from 'prom-client'
import type { DeliveryHealth } from '../store/deliveries/delivery-health.ts'

const BREAKERS = ['closed', 'open', 'probing'] as const
/** Milliseconds in which several collections share one look. */
const SHARED = 1_000

/** @param read participants to whom something is on its way, or could not be delivered */
export function addDeliveryHealth(register: Registry, read: () => Promise<readonly DeliveryHealth[]>): void {
  const registers = [register]
  const labelNames = ['participant']
  let held: { readonly at: number; readonly rows: Promise<readonly DeliveryHealth[]> } | undefined
  // Metrics are there when the database is not: then these are missing.
  const rows = (): Promise<readonly DeliveryHealth[]> => {
    if (held === undefined || performance.now() - held.at > SHARED) {
      held = { at: performance.now(), rows: read().catch(() => []) }
    }
    return held.rows
  }
  const gauge = (name: string, help: string, value: (health: DeliveryHealth) => number): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset()
        for (const health of await rows()) this.set({ participant: health.sender_id }, value(health))
      },
    })
  }
  gauge('rollcall_deliveries_pending', 'Deliveries that wait for an attempt', ({ pending }) => pending)
  gauge('rollcall_delivery_oldest_seconds', 'Age of the oldest pending delivery', ({ oldest }) => oldest)
  gauge('rollcall_deliveries_dead', 'Deliveries given up within a day', ({ dead }) => dead)
  gauge(
    'rollcall_delivery_breaker',
    'Worst breaker of its destinations: 0 closed, 1 open, 2 probing',
    ({ breaker }) => BREAKERS.indexOf(breaker),
  )
  gauge(
    'rollcall_delivery_breakers_open',
    'Destinations of the participant whose breaker is not closed',
    ({ breakers_open }) => breakers_open,
  )
}
