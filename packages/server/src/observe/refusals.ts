/** Refused requests, for the operator: a line for each kind of refusal, participant and address, and counters. */
import type { Clock } from '../shared/clock.ts'
import { createFloodLog, type Log } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface Refusal {
  /** A code of the protocol, or `token.` and a code of the token endpoint. */
  readonly refusal: string
  /** The sender_id of the token that was shown, or of the client that a token was asked for; null: not known. */
  readonly participant: string | null
  /** From where, as `clientUnit` writes it. */
  readonly address: string
}

export interface Refusals {
  note(refusal: Refusal): void
}

/** Milliseconds from one line about a refusal to the next. */
const PERIOD = 60_000
/** Refusals that have lines of their own at a time. */
const MOST = 200

export function createRefusals(parts: {
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'refused'>
  readonly later?: Clock['later']
}): Refusals {
  const { log, metrics, later } = parts
  const flood = createFloodLog<Refusal>({
    period: PERIOD,
    most: MOST,
    report: (refusal, count) =>
      log.warn({ ...(refusal ?? { refusal: 'others' }), count }, 'requests were refused'),
    ...(later !== undefined && { later }),
  })
  return {
    note(refusal) {
      metrics.refused(refusal.refusal, refusal.participant)
      flood.note(refusal)
    },
  }
}
