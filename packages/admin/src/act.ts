/**
 * Acts: admin functions that change something, or that show what belongs to persons. An act has a caller, and says whether it
 * waits for a second operator. Each call that changes something or shows data of a person has an audit entry, except calls of
 * callers without names (`callerInEntry`) and repeated reads by an open page (`Caller.isRepeatedAccess`). An admin function that
 * is no act (`defineAdminFunction`) names no person. Only two functions that are no acts change anything: `migrateDatabase`, and
 * `showChecklist`, which stores when a participant took each step for the first time.
 */

import { createSemaphore, runInSlot } from '@rollcall/base/shared/semaphore'
import type { AuditLog } from '@rollcall/core/model/audit-entry'
import type { OperatorRole } from '@rollcall/core/model/operator'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { Database } from '@rollcall/database/database'
import { inOneTransaction } from '@rollcall/database/one-transaction'
import { NO_STATEMENT_TIMEOUT_SQL } from '@rollcall/database/transaction'
import { lockSettings } from '@rollcall/participants/store/session-claim'
import type { Static, TSchema } from 'typebox'
import { type AdminFunction, AdminRefusal, defineAdminFunction, type InputWithUndefined } from './admin-function.ts'
import { canonicalJsonText, type DiffLine, diffLinesOf, type ProposedChanges } from './approvals/diff-lines.ts'
import { auditAct, type EntryDetails } from './audit/operator-entries.ts'
import { type ActFacts, type Caller, canDoAct } from './caller.ts'

/** Dependencies that every act needs, in addition to its own. */
export interface BaseActDeps {
  readonly caller: Caller
  /** The audit log that gets the entry of the act; `entry` in the definition of the act says when. */
  readonly auditLog: AuditLog
  readonly approvals: ApprovalService
}

/** Says whether acts wait for a second operator, and stores those that wait. */
export interface ApprovalService {
  /** True when some acts need two operators (ROLLCALL_TWO_PERSON). */
  readonly areNeeded: boolean
  /** Stores an act as a proposal, and does not do the act. @throws ActWaitsError it is stored, or AdminRefusal */
  propose(deps: BaseActDeps, act: WaitingAct): Promise<never>
}

/** An act that must wait for a second operator. */
export interface WaitingAct {
  readonly name: string
  readonly role: OperatorRole
  readonly diff: readonly DiffLine[]
  readonly input: unknown
}

/** The approval service with which no act waits: used without ROLLCALL_TWO_PERSON, and for callers such as the outbox. */
export const NO_APPROVAL_NEEDED: ApprovalService = {
  areNeeded: false,
  propose: () => Promise.reject(new Error('no act waits where one operator is enough')),
}

interface ApprovalTerms<Input> {
  /** The role that an operator needs to decide about the act. */
  readonly role: OperatorRole
  /** Members of the input that may be personal data. The diff, which every operator may read, omits them. */
  readonly confidential?: readonly (keyof Input & string)[]
}

interface WaitAlwaysTerms<Deps, Input> extends ApprovalTerms<Input> {
  readonly when: 'always'
  /** Returns the changes for the second operator; null: the call does not wait, as it changes nothing or will be refused. */
  readonly concerns: (deps: Deps & BaseActDeps, input: Input) => Promise<ProposedChanges | null>
}

interface WaitIfWiderTerms<Deps, Input, Stored> extends ApprovalTerms<Input> {
  readonly when: 'wider'
  /** Reads the stored values that the input is compared with. Absent: the input alone decides whether the act waits. */
  readonly stored?: (deps: Deps & BaseActDeps, input: Input) => Promise<Stored>
  /** Compares input and stored values. Null: the input permits no more than they do, so the act does not wait. */
  readonly compare: (wanted: Input, stored: Stored) => ProposedChanges | null
}

interface ActDefinition<Deps, Input extends TSchema, Result extends TSchema, Stored> {
  /** The words of the command, such as `audit list`. The audit entry of the act has them as its note. */
  readonly name: string
  /** Whether the act waits for a second operator, and the lines that this operator sees. */
  readonly approval:
    | 'never'
    | WaitAlwaysTerms<Deps, ReadOnly<Static<Input>>>
    | WaitIfWiderTerms<Deps, ReadOnly<Static<Input>>, Stored>
  /**
   * Set if the act changes settings, such as grants. Whether an act waits may depend on stored settings (`compare`), so acts with
   * `settings` run one after another, each with comparison and work in one transaction. Steps of a configuration file never wait.
   */
  readonly settings?: true
  /**
   * When the audit entry is written. `first` (default): before the work begins. `within`: by the work, which finds the persons or
   * the registry that the entry names, before it shows or changes anything. Only a restore changes the database before its entry.
   */
  readonly entry?: 'first' | 'within'
  readonly input: Input
  readonly result: Result
}

/**
 * Writes the audit entry of an act; `details` are added to it. `details` null: no entry, because the call changes nothing and
 * shows no person. No `details`: an entry without additions, and none for a repeated read by an open page.
 */
export type WriteActEntry = (details?: Partial<EntryDetails> | null) => Promise<void>

/** The facts about an act that other code reads, such as the code of proposals. */
export interface ActDescription<Deps> extends ActFacts {
  /** The role that an operator needs to decide about the act; null: the act never waits. */
  readonly role: OperatorRole | null
  readonly confidential: readonly string[]
  /** Compares the input of a call with the stored values; null: nothing is compared, because the act waits always, or never. */
  readonly compare: ((wanted: never, stored: never) => ProposedChanges | null) | null
  /** Returns the diff lines for a second operator; null: this call needs no second operator. */
  readonly diff: (deps: Deps, input: unknown) => Promise<readonly DiffLine[] | null>
}

/** The outcome of a call: the diff lines if the act must wait, otherwise the answer of the act. */
type CallOutcome<Answer> = { readonly waits: readonly DiffLine[] } | { readonly answer: Answer }

/** Makes an act. A call of the act throws AdminRefusal if the caller may not do it, and ActWaitsError if it must wait. */
export function defineAct<Deps, Input extends TSchema, Result extends TSchema, Stored = null>(
  { name, approval, settings, entry = 'first', input, result }: ActDefinition<Deps, Input, Result, Stored>,
  work: (
    deps: Deps & BaseActDeps,
    input: ReadOnly<Static<Input>>,
    enter: WriteActEntry,
    checkDecision: (db: Database) => Promise<void>,
  ) => Promise<ReadOnly<Static<Result>>>,
): AdminFunction<Deps & BaseActDeps, Input, Result> & { readonly act: ActDescription<Deps & BaseActDeps> } {
  type Known = ReadOnly<Static<Input>>
  type Answer = ReadOnly<Static<Result>>
  const terms = approval === 'never' ? null : approval
  const { when = 'never', role = null, confidential = [] } = terms ?? {}
  const facts = { name, approval: when, role, confidential } as const
  const findChanges = async (deps: Deps & BaseActDeps, given: Known): Promise<ProposedChanges | null> => {
    if (terms === null) return null
    if (terms.when === 'always') return terms.concerns(deps, given)
    return terms.compare(given, ((await terms.stored?.(deps, given)) ?? null) as Stored)
  }
  const diff = async (deps: Deps & BaseActDeps, given: Known): Promise<readonly DiffLine[] | null> => {
    const found = await findChanges(deps, given)
    return found === null ? null : diffLinesOf(found, confidential)
  }

  /** Decides whether the act must wait, and does the act if not: both in one transaction if `deps.db` is a transaction. */
  const attempt = async (deps: Deps & BaseActDeps, given: Known): Promise<CallOutcome<Answer>> => {
    const { caller, approvals } = deps
    const isAsked = caller.kind === 'proposal' || (approvals.areNeeded && caller.kind !== 'configuration')
    const lines = isAsked ? await diff(deps, given) : null
    if (caller.kind === 'proposal') checkDiffUnchanged(lines, caller.diff)
    else if (lines !== null) return { waits: lines }
    let entered = false
    const enter: WriteActEntry = async (details = isRepeatedAccess(caller) ? null : {}) => {
      entered = true
      if (details === null) return
      await auditAct(deps, { note: auditNoteOf(name, given), registry: namespaceOfInput(given), ...details })
    }
    const checkDecision = async (db: Database): Promise<void> => {
      if (isAsked) checkDiffUnchanged(await diff({ ...deps, db }, given), canonicalJsonText(lines))
    }
    if (entry === 'first') await enter()
    const answer = await work(deps, given, enter, checkDecision)
    if (!entered) throw new Error(`the act ${name} left no entry`)
    return { answer }
  }

  const run = async (deps: Deps & BaseActDeps, given: Known): Promise<Answer> => {
    // While the steps of a configuration file run, `apply` itself holds the lock on settings.
    const isAlone = settings === true && deps.caller.kind !== 'configuration'
    const decided = isAlone ? await withSettingsLocked(deps, (db) => attempt({ ...deps, db }, given)) : await attempt(deps, given)
    if ('answer' in decided) return decided.answer
    if (role === null) throw new Error(`the act ${name} never waits`)
    return deps.approvals.propose(deps, { name, role, diff: decided.waits, input: given })
  }
  const checked = defineAdminFunction({ input, result }, run)
  const runIfAllowed: typeof run = async (deps, given) => {
    const { caller, auditLog, approvals } = deps
    if (!canDoAct(caller, facts)) throw forbiddenActRefusal(name, caller)
    if (auditLog === undefined || approvals === undefined) throw forbiddenActRefusal(name, undefined)
    return checked(deps, given as InputWithUndefined<Static<Input>>)
  }
  const row = {
    ...facts,
    compare: terms?.when === 'wider' ? (terms.compare as ActDescription<Deps>['compare']) : null,
    diff: (deps: Deps & BaseActDeps, given: unknown) => diff(deps, given as Known),
  }
  return Object.assign(runIfAllowed as typeof checked, { input, result, act: row })
}

/** Acts that change settings run one after another on this node: one that waits for its turn takes no database connection. */
const settingsSemaphore = createSemaphore(1)

/** Runs the work in one transaction in which nobody else changes settings. */
export function withSettingsLocked<Result>(deps: object, work: (db: Database) => Promise<Result>): Promise<Result> {
  const { db } = deps as { readonly db: Database }
  return runInSlot(settingsSemaphore, 'settings', () =>
    inOneTransaction(db, async (inner, client) => {
      await lockSettings(client)
      // No timeout: one statement may have to make a million deliveries of a participant due.
      await client.query(NO_STATEMENT_TIMEOUT_SQL)
      return work(inner)
    }),
  )
}

/**
 * Checks that an act would still make the changes that were approved, or that were found when the call began.
 * @param lines the diff lines now; null: no second operator is needed
 * @param decided the earlier diff lines as canonical JSON
 * @throws AdminRefusal the diff lines have changed
 */
function checkDiffUnchanged(lines: readonly DiffLine[] | null, decided: string): void {
  if (canonicalJsonText(lines) === decided) return
  throw new AdminRefusal('what is stored has changed since it was proposed: propose it again', { reason: 'conflict' })
}

const isRepeatedAccess = (caller: Caller): boolean => caller.kind === 'operator' && caller.isRepeatedAccess === true

function forbiddenActRefusal(name: string, caller: Caller | undefined): AdminRefusal {
  const who =
    caller === undefined
      ? 'it needs a caller, an audit log and a word on approvals'
      : `a caller of the kind ${caller.kind} may not do it`
  return new AdminRefusal(`${name}: ${who}`, { reason: 'forbidden' })
}

/** The note of an audit entry: the command, and whether the call is a dry run. */
const auditNoteOf = (name: string, input: unknown): string =>
  memberOfInput(input, 'dry_run') === true ? `${name} (dry run)` : name

function namespaceOfInput(input: unknown): string | undefined {
  const namespace = memberOfInput(input, 'namespace')
  return typeof namespace === 'string' ? namespace : undefined
}

const memberOfInput = (input: unknown, name: string): unknown =>
  typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>)[name] : undefined
