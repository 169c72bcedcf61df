/**
 * What an operator's Prometheus collects. Labels are bounded: never an identifier or a path as sent. Refusals, emergencies
 * and the deliveries' health alone name participants, by the sender_id under which the operator has entered them.
 */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { BREAKER_STATES, type BreakerState } from '../model/breaker.ts'
import { shortLived } from '../shared/short-lived.ts'
import type { SchemaLead } from '../store/db/schema-version.ts'
import type { DeliveryHealth } from '../store/deliveries/breakers.ts'
import type { OutboxHealth } from '../store/events/outbox.ts'

export interface Metrics {
  /** One request answered: `route` is an operation's name or the name of a fixed page. */
  requestAnswered(route: string, status: number, seconds: number): void
  /** One item of a batch answered: `code` is its reason code, or `none`. */
  itemAnswered(operation: string, status: string, code: string): void
  /** One item answered by the emergency part of a grant. */
  emergencyUsed(participant: string, registry: string): void
  /** Tokens issued or refused. */
  tokenAnswered(outcome: 'issued' | 'refused' | 'throttled'): void
  /** One search asked of the database: `kind` is the registry's, `outcome` whether it was answered. */
  searched(kind: string, outcome: SearchOutcome, seconds: number): void
  /** One request refused because a quota is used up. */
  requestRefused(quota: QuotaName): void
  /** One request refused, whatever the reason: `refusal` is a code, `participant` whose token or client it was. */
  refused(refusal: string, participant: string | null): void
  /** One run of an exchange (`process`), or one turn of a participant with deliveries (`drain`). */
  taskEnded(task: string, outcome: 'done' | 'failed', seconds: number): void
  /** One attempt at a delivery: `ending` is its class (`delivery/failures.ts`). */
  deliveryAttempted(ending: string, seconds: number): void
  /** One delivery at its end. */
  deliveryEnded(state: 'delivered' | 'refused' | 'dead'): void
  /** Entries of the accounts of access. */
  accounted(outcome: 'written' | 'failed', entries: number): void
  /** One checkpoint of the accounts. */
  checkpointMade(outcome: 'made' | 'failed'): void
  /** One attempt to give checkpoints to the witness; `waiting` are those that it still has not. */
  witnessed(outcome: 'taken' | 'failed', waiting: number): void
  /** The exposition format of all metrics, with its content type. */
  render(): Promise<{ contentType: string; text: string }>
}

/** The quotas of a request, as rows of `limits.ts` name them; `participant_bytes` is half of `total_bytes`. */
export type QuotaName =
  | 'participant_rate'
  | 'participant_concurrency'
  | 'participant_bytes'
  | 'total_rate'
  | 'total_concurrency'
  | 'total_bytes'
  | 'inbox_messages'
  | 'inbox_bytes'
  | 'accepted_requests'
  | 'accepted_bytes'
  | 'address_failures'

/** `timeout`: it took longer than a search may. */
export type SearchOutcome = 'answered' | 'timeout' | 'failed'

/**
 * Makes the metrics.
 * @param connections reports the database pool when they are collected
 * @param deliveries reports participants to whom something is on its way, or could not be delivered
 * @param breaker reports the circuit breaker of the database
 * @param outbox reports its rows; null: nothing is known of it
 * @param schema reports how far the tables of the database are ahead of this node
 */
export function createMetrics(
  connections: () => { total: number; idle: number; waiting: number },
  deliveries: () => Promise<readonly DeliveryHealth[]> = async () => [],
  breaker: () => BreakerState = () => 'closed',
  outbox: () => Promise<OutboxHealth | null> = async () => null,
  schema: () => Promise<Pick<SchemaLead, 'ahead'>> = async () => ({ ahead: 0 }),
): Metrics {
  const registers = [new Registry()]
  const [register] = registers as [Registry]
  collectDefaultMetrics({ register })

  const requests = new Histogram({
    name: 'rollcall_request_seconds',
    help: 'Time to answer a request',
    labelNames: ['route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const items = new Counter({
    name: 'rollcall_items_total',
    help: 'Items answered, by operation, status and reason code',
    labelNames: ['operation', 'status', 'code'],
    registers,
  })
  const emergencies = new Counter({
    name: 'rollcall_emergencies_total',
    help: 'Items asked by the emergency part of a grant, by participant and registry',
    labelNames: ['participant', 'registry'],
    registers,
  })
  const tokens = new Counter({
    name: 'rollcall_tokens_total',
    help: 'Token requests, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const searches = new Histogram({
    name: 'rollcall_search_seconds',
    help: 'Time of one search in the database, by kind of registry and outcome',
    labelNames: ['kind', 'outcome'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  })
  const tasks = new Histogram({
    name: 'rollcall_job_seconds',
    help: 'Time of one run of an exchange (process) or turn of a participant (drain), by outcome',
    labelNames: ['task', 'outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const refusals = new Counter({
    name: 'rollcall_quota_refusals_total',
    help: 'Requests refused because a quota is used up, by quota',
    labelNames: ['quota'],
    registers,
  })
  const refused = new Counter({
    name: 'rollcall_refusals_total',
    help: 'Requests refused, by code and by the participant whose token they showed',
    labelNames: ['refusal', 'participant'],
    registers,
  })
  new Gauge({
    name: 'rollcall_database_connections',
    help: 'Connections of the database pool, by state',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(connections())) this.set({ state }, count)
    },
  })

  new Gauge({
    name: 'rollcall_database_breaker',
    help: 'Circuit breaker of the database: 0 closed, 1 open after a declined write, 2 probing',
    registers,
    collect() {
      this.set(BREAKER_STATES.indexOf(breaker()))
    },
  })

  const attempts = new Histogram({
    name: 'rollcall_delivery_attempt_seconds',
    help: 'Time of one attempt at a delivery, by how it ended',
    labelNames: ['ending'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  const ended = new Counter({
    name: 'rollcall_deliveries_total',
    help: 'Deliveries at their end, by how they ended',
    labelNames: ['state'],
    registers,
  })
  const accounts = new Counter({
    name: 'rollcall_accounts_total',
    help: 'Entries of the accounts of access, by outcome: an answer without its entry is not sent',
    labelNames: ['outcome'],
    registers,
  })
  const checkpoints = new Counter({
    name: 'rollcall_account_checkpoints_total',
    help: 'Checkpoints of the accounts of access, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const witness = new Counter({
    name: 'rollcall_account_witness_total',
    help: 'Attempts to give checkpoints to the witness, by outcome',
    labelNames: ['outcome'],
    registers,
  })
  const unwitnessed = new Gauge({
    name: 'rollcall_account_unwitnessed_checkpoints',
    help: 'Checkpoints of this process that the witness has not taken',
    registers,
  })
  addDeliveryHealth(register, deliveries)
  addOutboxHealth(register, outbox)
  new Gauge({
    name: 'rollcall_schema_versions_ahead',
    help: 'Versions by which the tables of the database are ahead of this node: with 1 it works, with more it stops',
    registers,
    async collect() {
      this.set((await schema()).ahead)
    },
  })

  return {
    requestAnswered: (route, status, seconds) => requests.observe({ route, status: String(status) }, seconds),
    itemAnswered: (operation, status, code) => items.inc({ operation, status, code }),
    emergencyUsed: (participant, registry) => emergencies.inc({ participant, registry }),
    tokenAnswered: (outcome) => tokens.inc({ outcome }),
    searched: (kind, outcome, seconds) => searches.observe({ kind, outcome }, seconds),
    taskEnded: (task, outcome, seconds) => tasks.observe({ task, outcome }, seconds),
    deliveryAttempted: (ending, seconds) => attempts.observe({ ending }, seconds),
    deliveryEnded: (state) => ended.inc({ state }),
    refused: (refusal, participant) => refused.inc({ refusal, participant: participant ?? '' }),
    requestRefused: (quota) => refusals.inc({ quota }),
    accounted: (outcome, entries) => accounts.inc({ outcome }, entries),
    checkpointMade: (outcome) => checkpoints.inc({ outcome }),
    witnessed: (outcome, waiting) => {
      witness.inc({ outcome })
      unwitnessed.set(waiting)
    },
    render: async () => ({ contentType: register.contentType, text: await register.metrics() }),
  }
}

/** Milliseconds for which what the database says counts: the gauges of a collection share one query. */
const HEALTH_AGE = 1_000

/** @param read participants to whom something is on its way, or could not be delivered */
function addDeliveryHealth(register: Registry, read: () => Promise<readonly DeliveryHealth[]>): void {
  const registers = [register]
  const labelNames = ['participant']
  // Metrics are there when the database is not: then these are missing.
  const { get } = shortLived(() => read().catch((): readonly DeliveryHealth[] => []), {
    maxAge: HEALTH_AGE,
  })
  const gauge = (name: string, help: string, value: (health: DeliveryHealth) => number): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset()
        for (const health of await get('all')) this.set({ participant: health.sender_id }, value(health))
      },
    })
  }
  gauge('rollcall_deliveries_pending', 'Deliveries that wait for an attempt', ({ pending }) => pending)
  gauge('rollcall_delivery_oldest_seconds', 'Age of the oldest pending delivery', ({ oldest }) => oldest)
  gauge('rollcall_deliveries_dead', 'Deliveries given up within a day', ({ dead }) => dead)
  gauge(
    'rollcall_delivery_breaker',
    'Worst breaker of its destinations: 0 closed, 1 open, 2 probing',
    ({ breaker }) => BREAKER_STATES.indexOf(breaker),
  )
  gauge(
    'rollcall_delivery_breakers_open',
    'Destinations of the participant whose breaker is not closed',
    ({ breakers_open }) => breakers_open,
  )
  gauge(
    'rollcall_notifications_waiting',
    'Notifications that wait in mailboxes',
    ({ notifications_waiting }) => notifications_waiting,
  )
  gauge(
    'rollcall_mailboxes_closed',
    'Mailboxes closed because nothing could be delivered',
    ({ mailboxes_closed }) => mailboxes_closed,
  )
}

function addOutboxHealth(register: Registry, read: () => Promise<OutboxHealth | null>): void {
  const registers = [register]
  const { get } = shortLived(() => read().catch(() => null), { maxAge: HEALTH_AGE })
  new Gauge({
    name: 'rollcall_outbox_rows',
    help: 'Rows of the outbox: waiting, or failed because they cannot be published',
    labelNames: ['state'],
    registers,
    async collect() {
      this.reset()
      const health = await get('all')
      if (health === null) return
      this.set({ state: 'waiting' }, health.waiting)
      this.set({ state: 'failed' }, health.failed)
    },
  })
  new Gauge({
    name: 'rollcall_outbox_oldest_seconds',
    help: 'Age of the oldest row of the outbox that waits',
    registers,
    async collect() {
      const health = await get('all')
      if (health === null) this.remove()
      else this.set(health.oldest)
    },
  })
}
