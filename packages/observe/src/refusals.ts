/**
 * Records refused requests: in log lines, one in a minute for each combination of refusal, participant, address and
 * reason; in counters; and in audit entries, which also tell registries and operations apart.
 */
import type { Clock } from '@rollcall/base/shared/clock'
import { createFloodLimitingLog, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface Refusal {
  /** The code of a fault or of a header's rejection, or `token.` and the error code of the token endpoint. */
  readonly refusal: string
  /** The sender_id of the token's owner, or of the client that asked for a token; null when unknown. */
  readonly participant: string | null
  /** The IP address of the peer, shortened by `clientAddressKey`. */
  readonly address: string
  /** The reason for the operator's log, where the peer is not told the reason. */
  readonly reason?: string
}

/** The registry and operation of a refused request; each is null when unknown. */
export interface RefusedRequest {
  /** The namespace of the registry. */
  readonly registry: string | null
  /** The name of an operation or a callback. */
  readonly operation: string | null
}

export interface RefusalRecorder {
  /** Counts a refused request in the log, in the metrics and for the audit log. */
  note(refusal: Refusal, request: RefusedRequest): void
  /** Counts a message whose header was rejected, for the audit log; the log and the metrics of refusals do not count it. */
  rejected(refusal: Refusal, request: RefusedRequest): void
  /** Writes audit entries for the refusals that have none yet. Resolves when they are written. */
  flush(): Promise<void>
}

export interface RefusalEntryWriter {
  /** Writes an audit entry for a number of equal refusals. @param refusals null: the refusals that have no entry of their own */
  write(refusals: RefusalWithRequest | null, count: number): void
  /** Resolves when all audit entries about refusals are written. */
  idle(): Promise<void>
}

/** A refusal with its request. Refused requests that are equal in all members are counted together. */
export type RefusalWithRequest = Refusal & RefusedRequest

/** Milliseconds between two log lines, and between two audit entries, about the same refusal. */
const REFUSAL_PERIOD_MS = 60_000
/** The number of different refusals that have log lines and audit entries of their own at a time. */
const MOST_DISTINCT_REFUSALS = 200

export function createRefusalRecorder(deps: {
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'refused'>
  readonly auditLog: RefusalEntryWriter
  readonly later?: Clock['later']
}): RefusalRecorder {
  const { log, metrics, auditLog, later } = deps
  const flood = createFloodLimitingLog<Refusal>({
    period: REFUSAL_PERIOD_MS,
    most: MOST_DISTINCT_REFUSALS,
    report: (refusal, count) => log.warn({ ...(refusal ?? { refusal: 'others' }), count }, 'requests were refused'),
    ...(later !== undefined && { later }),
  })
  const audited = createFloodLimitingLog<RefusalWithRequest>({
    period: REFUSAL_PERIOD_MS,
    most: MOST_DISTINCT_REFUSALS,
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
