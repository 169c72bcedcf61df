/** Restores a database, and what belongs to it: the journal, the audit log, and the outgoing messages. */

import { loadAuditKeys } from '@rollcall/audit/keys'
import { findOpenChains, readNewestEntryTime } from '@rollcall/audit/store/open-chains'
import { insertTombstone } from '@rollcall/audit/store/tombstones'
import { type RestoreTombstone, signTombstone } from '@rollcall/audit/tombstones'
import { loadBackup } from '@rollcall/backup/backup/restore'
import { type ActsToRepeat, readJournal } from '@rollcall/backup/journal/read-journal'
import { advanceCounterColumns, advanceSequences } from '@rollcall/backup/store/after-load'
import { listSequences } from '@rollcall/backup/store/catalog'
import {
  beginRestoration,
  findLastRestoration,
  markJournalApplied,
  markRestorationLoaded,
} from '@rollcall/backup/store/restorations'
import type { Limits } from '@rollcall/core/limits'
import { NO_JOURNAL } from '@rollcall/core/model/journal'
import { bodyKeyRetentionSeconds } from '@rollcall/core/model/retention'
import type { Database } from '@rollcall/database/database'
import { continueJournalAfterRestore, type JournalPosition, readJournalPosition } from '@rollcall/database/journal-head'
import { withTransaction } from '@rollcall/database/transaction'
import { ENVELOPE_NUMBER_COLUMN } from '@rollcall/delivery/store/events/mailboxes'
import { destroyBodyKeys } from '@rollcall/keys/store/body-keys'
import { lapseAllWaitingProposals } from '@rollcall/participants/store/proposals'
import Type from 'typebox'
import { type BaseActDeps, defineAct, type WriteActEntry } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { migrateDatabase } from '../database.ts'
import type { HasOwner, HasVault } from '../deps.ts'
import { closed, flag, instant, isoTime, orNull, wholeNumber } from '../members.ts'
import { checkOwnsAuditLog } from '../persons/retention.ts'
import { BACKUP_MEMBERS, describeBackup, type HasMasterKeys, openBackup, toBackupRefusal } from './backup.ts'
import { checkAllActsRepeated, countUnrepeatedActs, repeatJournalActs } from './journal-acts.ts'

export interface RestoreDeps extends HasOwner, HasVault, BaseActDeps, HasMasterKeys {
  readonly limits: Limits
  /** The clock (default: that of the system). */
  readonly now?: () => Date
  readonly signal?: AbortSignal
}

const JOURNAL_INPUT = {
  journal: Type.Optional(Type.Array(Type.String(), { description: 'Paths of the files of the journal.' })),
  without_journal: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Why there is no journal, without personal data: a signed entry has it for ever.',
    }),
  ),
  accept_undone: Type.Optional(flag('Accept that acts of the journal cannot be done; otherwise the restore does not end.')),
} as const

const RESTORE_RESULT_MEMBERS = {
  snapshot_at: instant('The time whose state the database has.'),
  journal: orNull(wholeNumber('Acts of the journal that were applied; null: it was renounced.')),
  undone: Type.Array(
    closed({
      kind: Type.String({ description: 'The kind of the acts.' }),
      rule: Type.String({ description: 'Why they cannot be done.' }),
      acts: wholeNumber('How many.'),
    }),
    { description: 'Acts of the journal that could not be done, which was accepted.' },
  ),
  open_chains: wholeNumber('Chains of the audit log that had not ended: what followed in them is lost.'),
} as const

/** Columns with numbers that must not be used twice, beside the sequences, which the database itself lists. */
const COUNTERS_TO_ADVANCE = [ENVELOPE_NUMBER_COLUMN]

/** Restores a backup into an empty database. It may be killed at any moment, and run again. */
export const restoreDatabase = defineAct(
  {
    name: 'restore',
    approval: 'never',
    entry: 'within',
    input: closed({ file: BACKUP_MEMBERS.file, ...JOURNAL_INPUT }),
    result: closed({
      ...BACKUP_MEMBERS,
      ...RESTORE_RESULT_MEMBERS,
      left_out: Type.Array(Type.String(), { description: 'Tables of the file that Rollcall does not have.' }),
      migrations: Type.Array(Type.String(), { description: 'Migrations that ran afterwards.' }),
    }),
  },
  async (deps: RestoreDeps, { file, ...given }, enter) => {
    const { db, owner = db, signal } = deps
    checkJournalInput(given)
    const backup = await openBackup(file, deps.masterKeys)
    try {
      const { id, snapshot_at, journal } = backup.header
      const { sequence, digest, database = null, open = [] } = journal
      const journalPosition = { sequence, database, open, digest: Buffer.from(digest, 'hex') }
      const later = await findActsToRepeat(deps, given, journalPosition)
      const loaded = await loadBackup({ db, owner, numbered: COUNTERS_TO_ADVANCE, ...(signal && { signal }) }, backup).catch(
        (error) => {
          throw toBackupRefusal(error)
        },
      )
      const { migrations } = await migrateDatabase({ db, owner }, {})
      const done = await finishRestore(deps, enter, {
        restoration: loaded.restoration,
        backup: id,
        snapshot_at,
        later,
        reason: given.without_journal ?? `backup ${id}`,
        accept_undone: given.accept_undone,
      })
      return {
        ...describeBackup(file, backup, loaded.tables),
        ...done,
        left_out: [...loaded.left_out],
        migrations: [...migrations],
      }
    } finally {
      await backup.close()
    }
  },
)

/**
 * Adopts a database that was restored by other means, such as point-in-time recovery: repeats the journal and notes the restore,
 * as `restoreDatabase` does, but runs no migrations. No server may run on the database.
 */
export const adoptRestored = defineAct(
  { name: 'restore', approval: 'never', entry: 'within', input: closed(JOURNAL_INPUT), result: closed(RESTORE_RESULT_MEMBERS) },
  async (deps: RestoreDeps, given, enter) => {
    const { db, owner = db } = deps
    checkJournalInput(given)
    await checkOwnsAuditLog(owner)
    const last = await findLastRestoration(db.pool)
    const recovered = last?.applied_at === null ? last.snapshot_at : await readNewestEntryTime(db.pool)
    const later = await findActsToRepeat(deps, given, await readJournalPosition(db.pool, recovered))
    const { restoration, snapshot } = await withTransaction(owner.pool, beginDatabaseAdoption)
    return finishRestore(deps, enter, {
      restoration,
      backup: null,
      snapshot_at: snapshot.toISOString(),
      later,
      reason: given.without_journal ?? 'restored by other means',
      accept_undone: given.accept_undone,
    })
  },
)

/**
 * Stores that a restore by other means was done. Advances sequences and `COUNTERS_TO_ADVANCE` beyond all numbers that may have
 * been used after the restored state. If killed, it can be run again.
 */
async function beginDatabaseAdoption(
  client: Parameters<typeof markRestorationLoaded>[0],
): Promise<{ readonly restoration: number; readonly snapshot: Date }> {
  const last = await findLastRestoration(client)
  if (last?.applied_at === null) {
    if (last.backup === null && last.snapshot_at !== null) {
      return { restoration: last.id, snapshot: last.snapshot_at }
    }
    throw new AdminRefusal('a restore from a backup has begun and not ended: run rollcall restore again')
  }
  const snapshot = await readNewestEntryTime(client)
  const restoration = await beginRestoration(client, null)
  await advanceSequences(client, await listSequences(client))
  await advanceCounterColumns(client, COUNTERS_TO_ADVANCE)
  await markRestorationLoaded(client, restoration, snapshot)
  return { restoration, snapshot }
}

interface GivenJournal {
  readonly journal?: readonly string[]
  readonly without_journal?: string
}

function checkJournalInput({ journal, without_journal }: GivenJournal): void {
  if ((journal === undefined) === (without_journal === undefined)) {
    throw new AdminRefusal(
      'give either --journal with the files of the journal, or --without-journal with the reason why there is none: what it names is otherwise undone by the restore',
    )
  }
}

/** Reads the acts of the journal that a restore repeats; null: the operator does without the journal. */
const findActsToRepeat = async (
  { masterKeys }: HasMasterKeys,
  { journal }: GivenJournal,
  known: JournalPosition,
): Promise<ActsToRepeat | null> => (journal === undefined ? null : readJournal(journal, masterKeys, known))

interface RestoreToFinish {
  readonly restoration: number
  readonly backup: string | null
  readonly snapshot_at: string
  readonly later: ActsToRepeat | null
  readonly reason: string
  readonly accept_undone: boolean | undefined
}

/** The most milliseconds between the time of an audit entry and its commit. */
const LONGEST_COMMIT_MS = 60_000

async function finishRestore(
  deps: RestoreDeps,
  enter: WriteActEntry,
  { restoration, backup, snapshot_at, later, reason, accept_undone = false }: RestoreToFinish,
) {
  const { owner = deps.db, limits, now = () => new Date() } = deps
  // Acts that are repeated are in the journal already, so nothing is written to it.
  const db: Database = { ...deps.db, journal: NO_JOURNAL }
  const vault = await deps.vault()
  const { signer } = await loadAuditKeys(db, vault)
  const open = await findOpenChains(owner.kysely)
  await enter()
  const undone = await repeatJournalActs({ db, owner, vault, signer, limits, now }, later?.acts ?? [])
  await destroyBodyKeys(db, bodyKeyRetentionSeconds(limits))
  if (!accept_undone) checkAllActsRepeated(undone)
  const tombstone: RestoreTombstone = {
    kind: 'restore',
    at: now().toISOString(),
    reason,
    backup,
    snapshot_at,
    from: new Date(Date.parse(snapshot_at) - LONGEST_COMMIT_MS).toISOString(),
    journal: later?.acts.length ?? null,
    ...(undone.length > 0 && { undone: countUnrepeatedActs(undone) }),
    open: open.map((chain) => ({ ...chain })),
  }
  await withTransaction(db.pool, (client) => continueJournalAfterRestore(client, later?.head ?? null))
  await owner.kysely.transaction().execute(async (transaction) => {
    await insertTombstone(transaction, signTombstone(signer, tombstone))
    await lapseAllWaitingProposals(transaction)
    await markJournalApplied(transaction, restoration)
  })
  return {
    snapshot_at: isoTime(new Date(snapshot_at)),
    journal: tombstone.journal,
    undone: [...undone],
    open_chains: open.length,
  }
}
