/**
 * The verification of the audit log as a task of this node: it is begun, watched and stopped over the admin API, and
 * ends with the node.
 */

import { estimateEntries } from '@rollcall/audit/store/entry-pages'
import { newReport, type VerificationReport } from '@rollcall/audit/verify/report'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import { oneOf } from '@rollcall/protocol'
import type { Static } from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { defineAdminFunction } from '../admin-function.ts'
import { callerText } from '../caller.ts'
import type { HasVault } from '../deps.ts'
import { closed, instant, isoTime, NO_INPUT, orNull, text, wholeNumber } from '../members.ts'
import { runVerification, Verification } from './verify.ts'

const Progress = closed({
  state: oneOf(['none', 'running', 'done', 'failed', 'stopped'], {
    description: 'none: this node has verified nothing since it was started.',
  }),
  by: orNull(text('The operator who began it.')),
  began_at: orNull(instant('When it was begun.')),
  ended_at: orNull(instant('When it ended.')),
  entries: wholeNumber('Entries that are verified.'),
  about: wholeNumber('About how many there are, as the database estimates it; 0: not known.'),
  result: orNull(Verification),
})
type Progress = Static<typeof Progress>

/** The verification task of a node. */
export interface VerificationRunner {
  /** Begins a verification, unless one is running, and returns the progress of the running one. @param by the caller's name */
  begin(by: string): Promise<Progress>
  progress(): Progress
  /** Stops the running verification; resolves when nothing is read any more. */
  stop(): Promise<void>
}

/** Makes the verification task of a node. Only one verification runs at a time: it holds a connection and reads every entry. */
export function createVerificationTask(
  deps: HasVault & { readonly log: Pick<Log, 'error'> },
  now = () => new Date(),
): VerificationRunner {
  let last: Omit<Progress, 'entries'> = { state: 'none', by: null, began_at: null, ended_at: null, about: 0, result: null }
  let report: VerificationReport = newReport()
  let running: { readonly ended: Promise<void>; readonly abort: AbortController } | null = null
  const progress = (): Progress => ({ ...last, entries: report.counts.entries })
  const run = async (signal: AbortSignal): Promise<void> => {
    const ended = (outcome: Pick<Progress, 'state' | 'result'>): void => {
      last = { ...last, ...outcome, ended_at: isoTime(now()) }
      running = null
    }
    try {
      const result = await runVerification({ ...deps, witness: null }, { report, signal })
      ended({ state: 'done', result: result as Progress['result'] })
    } catch (error) {
      if (!signal.aborted) deps.log.error(safeDatabaseError(error), 'the audit log could not be verified')
      ended({ state: signal.aborted ? 'stopped' : 'failed', result: null })
    }
  }
  return {
    progress,
    async begin(by) {
      if (running !== null) return progress()
      const abort = new AbortController()
      const runEnd = Promise.withResolvers<void>()
      running = { ended: runEnd.promise, abort }
      report = newReport()
      last = { state: 'running', by, began_at: isoTime(now()), ended_at: null, about: 0, result: null }
      void run(abort.signal).finally(runEnd.resolve)
      const about = await estimateEntries(deps.db)
      last = { ...last, about }
      return progress()
    },
    async stop() {
      running?.abort.abort()
      await running?.ended
    },
  }
}

export interface HasVerification {
  readonly verifying: VerificationRunner
}

/**
 * Begins to verify the whole audit log, and answers at once. It does not read the witness, the copy of checkpoints outside of the
 * database: only `rollcall audit verify` does.
 */
export const beginVerification = defineAct(
  { name: 'audit verify', approval: 'never', input: NO_INPUT, result: Progress },
  async ({ verifying, caller }: HasVerification & BaseActDeps) => verifying.begin(callerText(caller)),
)

/** Shows the progress of the running verification of the audit log, or the result of the last one. */
export const showVerification = defineAdminFunction(
  { input: NO_INPUT, result: Progress },
  async ({ verifying }: HasVerification) => verifying.progress(),
)

export const stopVerification = defineAct(
  { name: 'audit verify stop', approval: 'never', input: closed({}), result: Progress },
  async (deps: HasVerification) => {
    await deps.verifying.stop()
    return deps.verifying.progress()
  },
)
