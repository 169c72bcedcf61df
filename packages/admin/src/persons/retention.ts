/** The retention of stored data, and the deletion of older data. */

import { mayDeleteEntries } from '@rollcall/audit/store/held-entries'
import type { Limits } from '@rollcall/core/limits'
import { bodyKeyRetentionSeconds, eventRetentionSeconds, retentionRules, SECONDS_PER_DAY } from '@rollcall/core/model/retention'
import type { Database } from '@rollcall/database/database'
import { clearPseudonymsOfEndedHolds } from '@rollcall/database/holds'
import { countRowsToForget, forgetEvents } from '@rollcall/delivery/store/events/forgetting'
import {
  countExchangesToForget,
  countInboxToForget,
  forgetExchanges,
  forgetInbox,
} from '@rollcall/engine/store/exchanges/forget-exchanges'
import { countBodyKeysToDestroy, destroyBodyKeys } from '@rollcall/keys/store/body-keys'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { pruneAuditLog } from '../audit/prune.ts'
import type { HasOwner, HasVault } from '../deps.ts'
import { closed, flag, instant, isoTime, NO_INPUT, text, wholeNumber } from '../members.ts'

/** Lists how long each kind of data is stored, with the environment variables that set it. */
export const showRetention = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        name: text('Short name.'),
        what: text('What is deleted.'),
        seconds: wholeNumber('After so many seconds.'),
        variables: Type.Array(Type.String(), { description: 'Environment variables that set it.' }),
      }),
    ),
  },
  async ({ limits }: { readonly limits: Limits }) =>
    retentionRules(limits).map((row) => ({ ...row, variables: [...row.variables] })),
)

export interface RetentionDeps extends HasVault, HasOwner {
  readonly limits: Limits
  /** The clock (default: that of the system). */
  readonly now?: () => Date
}

/** A kind of stored data, deleted when the database's clock says that it is too old. Servers do the same every ten minutes. */
interface PrunableData {
  readonly name: string
  readonly count: (db: Database, limits: Limits) => Promise<number>
  readonly prune: (db: Database, limits: Limits) => Promise<number>
}

const PRUNABLE_DATA: readonly PrunableData[] = [
  {
    name: 'exchanges',
    count: (db, { exchange_retention }) => countExchangesToForget(db, exchange_retention),
    prune: (db, { exchange_retention }) => forgetExchanges(db, exchange_retention),
  },
  {
    name: 'inbox',
    count: (db, { inbox_retention }) => countInboxToForget(db, inbox_retention),
    prune: (db, { inbox_retention }) => forgetInbox(db, inbox_retention),
  },
  {
    name: 'events',
    count: (db, limits) => countRowsToForget(db, eventRetentionSeconds(limits)),
    prune: (db, limits) => forgetEvents(db, eventRetentionSeconds(limits)),
  },
  {
    name: 'body_keys',
    count: (db, limits) => countBodyKeysToDestroy(db, bodyKeyRetentionSeconds(limits)),
    prune: (db, limits) => destroyBodyKeys(db, bodyKeyRetentionSeconds(limits)),
  },
]

const PRUNE_RESULT = closed({
  dry_run: flag('Whether nothing was deleted.'),
  stored: Type.Array(
    closed({
      name: oneOf(
        PRUNABLE_DATA.map(({ name }) => name),
        { description: 'As in the table of ages.' },
      ),
      deleted: wholeNumber('Rows.'),
    }),
  ),
  accounts: closed({
    before: instant('Audit entries of the months before this time are deleted.'),
    deleted: wholeNumber('Entries.'),
    held: wholeNumber('Chains of which a hold keeps some.'),
  }),
})

/** Deletes data and audit entries after their retention. @throws AdminRefusal the role does not own the audit log */
export const pruneStoredData = defineAct(
  { name: 'prune', approval: 'never', input: closed({ dry_run: Type.Optional(flag('Only count.')) }), result: PRUNE_RESULT },
  (deps: RetentionDeps, { dry_run = false }) => pruneOrCount(deps, dry_run),
)

async function pruneOrCount(deps: RetentionDeps, dry_run: boolean) {
  const { db, owner = db, limits, now = () => new Date() } = deps
  if (!dry_run) await checkOwnsAuditLog(owner)
  const stored = []
  for (const { name, count, prune: run } of PRUNABLE_DATA) {
    stored.push({ name, deleted: await (dry_run ? count(db, limits) : run(db, limits)) })
  }
  const before = beginOfMonth(now().getTime() - limits.account_retention * SECONDS_PER_DAY * 1_000)
  if (!dry_run) await clearPseudonymsOfEndedHolds(owner)
  const counts = await pruneAuditLog({ ...deps, owner, now, dryRun: dry_run }, before)
  return { dry_run, stored, accounts: { before: isoTime(before), ...counts } }
}

/** Counts what `prune` would delete now, and deletes nothing. */
export const countPrunable = defineAct(
  { name: 'prune --dry-run', approval: 'never', input: NO_INPUT, result: PRUNE_RESULT },
  (deps: RetentionDeps) => pruneOrCount(deps, true),
)

/** Checks that the role may delete audit entries. @throws AdminRefusal it may not: another role owns the audit log */
export async function checkOwnsAuditLog(owner: Database): Promise<void> {
  if (await mayDeleteEntries(owner)) return
  throw new AdminRefusal('the audit log belongs to another role: set ROLLCALL_OWNER_DATABASE_URL (docs/roles.md)')
}

/** The beginning of the month (UTC) in which a time lies. @param time milliseconds since 1970 */
function beginOfMonth(time: number): Date {
  const date = new Date(time)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1))
}
