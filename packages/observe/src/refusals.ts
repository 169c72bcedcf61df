/**
 * Refused requests: a line in the log for each kind of refusal, participant and address, counters, and audit entries by registry and
 * operation as well.
 */
import type { Clock } from '@rollcall/base/shared/clock'
import { createFloodLog, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface Refusal {
  /** A code of the protocol, or `token.` and a code of the token endpoint. */
  readonly refusal: string
  /** The sender_id of the token in the request, or of the client that asked for a token; null: unknown. */
  readonly participant: string | null
  /** The address of the peer, in the form of `clientUnit`. */
  readonly address: string
  /** The reason for the operator's log, if the peer gets only the code. */
  readonly reason?: string
}

/** The registry and operation of the request, if known. */
export interface RefusedRequest {
  /** Namespace. */
  readonly registry: string | null
  /** Name of an operation or a callback. */
  readonly operation: string | null
}

export interface Refusals {
  note(refusal: Refusal, request: RefusedRequest): void
  /** Notes, for the audit log alone, a message whose header was rejected. */
  rejected(refusal: Refusal, request: RefusedRequest): void
  /** Writes audit entries of what was noted since the last time. */
  flush(): Promise<void>
}

export interface RefusalEntries {
  /** @param refusals of one sort; null: others, of several sorts */
  write(refusals: RefusedRequests | null, count: number): void
  /** Resolves when everything is written. */
  idle(): Promise<void>
}

/** Refusals of one sort. */
export type RefusedRequests = Refusal & RefusedRequest

/** Milliseconds from one line about a refusal to the next. */
const PERIOD = 60_000
/** Refusals that have lines of their own at a time. */
const MOST = 200

export function createRefusals(deps: {
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'refused'>
  readonly auditLog: RefusalEntries
  readonly later?: Clock['later']
}): Refusals {
  const { log, metrics, auditLog, later } = deps
  const flood = createFloodLog<Refusal>({
    period: PERIOD,
    most: MOST,
    report: (refusal, count) => log.warn({ ...(refusal ?? { refusal: 'others' }), count }, 'requests were refused'),
    ...(later !== undefined && { later }),
  })
  const audited = createFloodLog<RefusedRequests>({
    period: PERIOD,
    most: MOST,
    report: auditLog.write,
    ...(later !== undefined && { later }),
  })
  return {
    note({ reason, ...refusal }, request) {
      metrics.refused(refusal.refusal, refusal.participant)
      flood.note({ ...refusal, ...(reason !== undefined && { reason }) })
      audited.note({ ...refusal, ...request })
    },
    rejected: (refusal, request) => audited.note({ ...refusal, ...request }),
    flush() {
      audited.flush()
      return auditLog.idle()
    },
  }
}
