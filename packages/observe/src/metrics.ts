/**
 * The metrics for an operator's Prometheus. Labels have a limited number of values, and never an identifier or a path from a
 * request. Some metrics name participants, by the sender_id that the operator entered: refusals by code, emergencies, grant
 * rates, the state of deliveries and mailboxes, and ends of grants and keys.
 */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { BREAKER_STATES, type BreakerState } from '@rollcall/core/model/breaker'
import type { ModeName } from '@rollcall/core/model/exchange'
import type { CountedQuantity } from '@rollcall/core/model/grant'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { addStoredHealthGauges, NO_STORED_HEALTH, type StoredHealthReader } from './stored-health.ts'

export interface Metrics {
  requestAnswered(request: AnsweredRequest, seconds: number): void
  /** Counts an answered item of a batch. `code` is its reason code, or `none`. */
  itemAnswered(operation: string, status: string, code: string): void
  /** Counts an item for which the emergency part of a grant was used. */
  emergencyUsed(participant: string, registry: string): void
  /** Counts an item that was refused because a rate of the grant (`items` or `records` in a minute) was used up. */
  grantRateRefused(of: { readonly participant: string; readonly registry: string; readonly counted: CountedQuantity }): void
  /** Counts an answered request for a token. `throttled`: refused, with a time after which to try again. */
  tokenAnswered(outcome: 'issued' | 'refused' | 'throttled'): void
  /** Measures a search in the database. `kind` is the registry's kind. */
  searched(kind: string, outcome: SearchOutcome, seconds: number): void
  /** Counts a request that was refused because a quota was used up. */
  requestRefused(quota: QuotaName): void
  /** Counts a refused request. `refusal` is the code, `participant` the owner of the token or client. */
  refused(refusal: string, participant: string | null): void
  /** Measures the work on an exchange (`process`), a participant's due deliveries (`drain`) or a mailbox (`notify`). */
  taskEnded(task: string, outcome: 'done' | 'failed', seconds: number): void
  /** Measures an attempt at a delivery. `ending` is the name of its result (`delivery/src/delivery/failures.ts`). */
  deliveryAttempted(ending: string, seconds: number): void
  /** Counts a delivery that has ended. */
  deliveryEnded(state: 'delivered' | 'refused' | 'dead'): void
  /** Counts entries of the audit log that were written or could not be written. */
  audited(outcome: 'written' | 'failed', entries: number): void
  /** Counts a checkpoint (a signature over the newest entry of the audit log) that was made or could not be made. */
  checkpointMade(outcome: 'made' | 'failed'): void
  /** Counts an attempt to send checkpoints to the witness, a file or syslog server. `waiting`: checkpoints still unsent. */
  witnessed(outcome: 'taken' | 'failed', waiting: number): void
  /** All metrics in Prometheus' text format, with the content type. */
  render(): Promise<{ contentType: string; text: string }>
}

export interface AnsweredRequest {
  /** The name of an operation or of a fixed page; `none` for other paths. */
  readonly route: string
  /** The mode of the operation; empty for pages. */
  readonly mode: ModeName | ''
  readonly status: number
  readonly outcome: RequestOutcome
}

/**
 * `rejected`: HTTP status below 400, but the header of the answer rejects the request. `refused`: status 4xx.
 * `failed`: status 5xx.
 */
export type RequestOutcome = 'done' | 'rejected' | 'refused' | 'failed'

/** The quotas of requests. All but `participant_bytes`, which is half of `total_bytes`, are limits in `limits.ts`. */
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

/** `timeout`: the search took longer than its time limit. */
export type SearchOutcome = 'answered' | 'timeout' | 'failed'

/**
 * Makes the metrics.
 * @param connections reads the state of the connection pool
 * @param breaker reads the state of the database's circuit breaker
 * @param stored reads values from the database
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a table of metrics
export function createMetrics(
  connections: () => { total: number; idle: number; waiting: number },
  breaker: () => BreakerState = () => 'closed',
  stored: StoredHealthReader = NO_STORED_HEALTH,
  clock: Pick<Clock, 'now'> = SYSTEM_CLOCK,
): Metrics {
  const registers = [new Registry()]
  const [register] = registers as [Registry]
  collectDefaultMetrics({ register })

  const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames: [...labelNames], registers })
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: number[],
  ): Histogram<Label> => new Histogram({ name, help, labelNames: [...labelNames], buckets, registers })

  const requests = histogram(
    'rollcall_request_seconds',
    'Time to answer a request, by operation or page, mode, status and outcome',
    ['route', 'mode', 'status', 'outcome'],
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  )
  const items = counter('rollcall_items_total', 'Items answered, by operation, status and reason code', [
    'operation',
    'status',
    'code',
  ])
  const emergencies = counter(
    'rollcall_emergencies_total',
    'Items asked by the emergency part of a grant, by participant and registry',
    ['participant', 'registry'],
  )
  const grantRates = counter(
    'rollcall_grant_rate_refusals_total',
    'Items refused because the rate of a grant is used up, by participant, registry and what is counted',
    ['participant', 'registry', 'counted'],
  )
  const tokens = counter('rollcall_tokens_total', 'Token requests, by outcome', ['outcome'])
  const searches = histogram(
    'rollcall_search_seconds',
    'Time of one search in the database, by kind of registry and outcome',
    ['kind', 'outcome'],
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
  )
  const tasks = histogram(
    'rollcall_job_seconds',
    'Time of one run of an exchange (process) or turn of a participant (drain), by outcome',
    ['task', 'outcome'],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  )
  const refusals = counter('rollcall_quota_refusals_total', 'Requests refused because a quota is used up, by quota', ['quota'])
  const refused = counter('rollcall_refusals_total', 'Requests refused, by code and by the participant whose token they showed', [
    'refusal',
    'participant',
  ])
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

  const attempts = histogram(
    'rollcall_delivery_attempt_seconds',
    'Time of one attempt at a delivery, by how it ended',
    ['ending'],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  )
  const ended = counter('rollcall_deliveries_total', 'Deliveries at their end, by how they ended', ['state'])
  const auditEntries = counter(
    'rollcall_accounts_total',
    'Entries of the audit log, by outcome: an answer without its entry is not sent',
    ['outcome'],
  )
  const checkpoints = counter('rollcall_account_checkpoints_total', 'Checkpoints of the audit log, by outcome', ['outcome'])
  const witness = counter('rollcall_account_witness_total', 'Attempts to give checkpoints to the witness, by outcome', [
    'outcome',
  ])
  const unwitnessed = new Gauge({
    name: 'rollcall_account_unwitnessed_checkpoints',
    help: 'Checkpoints of this process that the witness has not taken',
    registers,
  })
  addStoredHealthGauges(register, stored, clock)

  return {
    requestAnswered: ({ route, mode, status, outcome }, seconds) =>
      requests.observe({ route, mode, status: String(status), outcome }, seconds),
    itemAnswered: (operation, status, code) => items.inc({ operation, status, code }),
    emergencyUsed: (participant, registry) => emergencies.inc({ participant, registry }),
    grantRateRefused: (of) => grantRates.inc(of),
    tokenAnswered: (outcome) => tokens.inc({ outcome }),
    searched: (kind, outcome, seconds) => searches.observe({ kind, outcome }, seconds),
    taskEnded: (task, outcome, seconds) => tasks.observe({ task, outcome }, seconds),
    deliveryAttempted: (ending, seconds) => attempts.observe({ ending }, seconds),
    deliveryEnded: (state) => ended.inc({ state }),
    refused: (refusal, participant) => refused.inc({ refusal, participant: participant ?? '' }),
    requestRefused: (quota) => refusals.inc({ quota }),
    audited: (outcome, entries) => auditEntries.inc({ outcome }, entries),
    checkpointMade: (outcome) => checkpoints.inc({ outcome }),
    witnessed: (outcome, waiting) => {
      witness.inc({ outcome })
      unwitnessed.set(waiting)
    },
    render: async () => ({ contentType: register.contentType, text: await register.metrics() }),
  }
}
