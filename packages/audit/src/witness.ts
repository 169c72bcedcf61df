/**
 * The witness is a place outside of the database that gets each checkpoint. By comparison with it, a verification finds a
 * database that was rolled back or rewritten as a whole. A witness that fails stops no answer and no checkpoint. What it has not
 * taken is sent again with the next checkpoint.
 */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import { canonicalJson } from '@rollcall/protocol'
import { fileWitness } from './witness-file.ts'
import type { WitnessLine } from './witness-line.ts'
import { syslogWitness } from './witness-syslog.ts'
import type { WitnessAddress, WitnessTarget } from './witness-target.ts'

/** `none`: no witness is configured. `failed`: the witness did not take the lines that were last sent. */
export type WitnessState = 'none' | 'good' | 'failed'

export interface Witness {
  state(): WitnessState
  /** Sends a checkpoint to the witness. Never rejects. */
  note(checkpoint: WitnessLine): Promise<void>
  close(): Promise<void>
}

/** Milliseconds after which a witness that has not answered counts as failed. */
export const WITNESS_TIMEOUT_MS = 5_000

/** The most lines that wait for a failing witness; when there are more, the oldest are dropped. */
const MOST_WAITING_LINES = 10_000

interface WitnessDeps {
  readonly log: Pick<Log, 'error' | 'info'>
  readonly metrics: Pick<Metrics, 'witnessed'>
  readonly later: Clock['later']
}

/** Creates the witness. @param address null: no witness is configured, and checkpoints are sent nowhere */
export function createWitness(address: WitnessAddress | null, deps: WitnessDeps): Witness {
  if (address === null) return { state: () => 'none', note: () => Promise.resolve(), close: () => Promise.resolve() }
  return createWitnessOfTarget(address.kind === 'file' ? fileWitness(address.path) : syslogWitness(address), deps)
}

/** Creates a witness that sends each checkpoint to the target, with the earlier ones that the target has not taken. */
export function createWitnessOfTarget(target: WitnessTarget, { log, metrics, later }: WitnessDeps): Witness {
  let state: WitnessState = 'good'
  let waiting: string[] = []
  return {
    state: () => state,
    async note({ chain, sequence, hash, at, ended, digest, kid }) {
      waiting.push(canonicalJson({ rollcall_checkpoint: { chain, sequence, hash, at, ended, digest, kid } }))
      waiting = waiting.slice(-MOST_WAITING_LINES)
      const lines = waiting
      try {
        await writeWithTimeLimit(target, lines, later)
        waiting = waiting.slice(lines.length)
        if (state === 'failed') log.info('the witness of the audit log takes checkpoints again')
        state = 'good'
        metrics.witnessed('taken', 0)
      } catch (error) {
        metrics.witnessed('failed', waiting.length)
        if (state !== 'failed') log.error({ code: errorCodeOf(error) }, 'the witness of the audit log does not take checkpoints')
        state = 'failed'
      }
    },
    close: () => target.close().catch(() => undefined),
  }
}

function writeWithTimeLimit(target: WitnessTarget, lines: readonly string[], later: Clock['later']): Promise<void> {
  const giveUp = new AbortController()
  later(() => giveUp.abort(Object.assign(new Error('the witness does not answer'), { code: 'ETIMEDOUT' })), WITNESS_TIMEOUT_MS)
  return target.write(lines, giveUp.signal)
}

function errorCodeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : error instanceof Error ? error.name : typeof error
}
