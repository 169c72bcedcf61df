/** Writing the records of a registry. Only records in our own tables are written by us: a registry with others has no sink. */

import { unchangedAmong } from './complete-records.ts'
import { deleteRecords } from './delete-records.ts'
import { dueLedgers, findNamed, lockAdding, lockLedgers, storeLedgers } from './enrolment-ledgers.ts'
import { recordsNamed, restoreRecord, retireRecord } from './merge-records.ts'
import { lockRecord, writeRecords } from './record-writer.ts'
import { aliasesOf } from './retired-records.ts'

/**
 * The functions that write records. All but `dueLedgers` work in the caller's transaction, on its connection. Ids are
 * those of the registry's source. Each function documents what it promises and throws.
 */
export interface RecordSink {
  /** Writes a batch: each record replaces the one with its primary identifier, or is new. */
  readonly writeRecords: typeof writeRecords
  /** Finds records that are stored already as they are given. */
  readonly unchangedAmong: typeof unchangedAmong
  /** Locks the record that a primary identifier finds. */
  readonly lockRecord: typeof lockRecord
  /** Deletes records with all that is kept of them, and leaves a tombstone of each. */
  readonly deleteRecords: typeof deleteRecords
  /** Finds the records that an identifier names, with those that were merged into others. */
  readonly recordsNamed: typeof recordsNamed
  /** The identifiers of the records that were merged into these. */
  readonly aliasesOf: typeof aliasesOf
  /** Merges a record into another one. */
  readonly retireRecord: typeof retireRecord
  /** Takes a merge back. */
  readonly restoreRecord: typeof restoreRecord
  /** Makes others who add people wait until the transaction ends. */
  readonly lockAdding: typeof lockAdding
  /** The records that identifiers of people name. */
  readonly findNamed: typeof findNamed
  /** Locks records, and reads their ledgers of enrolments. */
  readonly lockLedgers: typeof lockLedgers
  readonly storeLedgers: typeof storeLedgers
  /** The ledgers in which a scheduled status has begun. */
  readonly dueLedgers: typeof dueLedgers
}

/** Writes our own tables. */
export const OWN_SINK: RecordSink = {
  writeRecords,
  unchangedAmong,
  lockRecord,
  deleteRecords,
  recordsNamed,
  aliasesOf,
  retireRecord,
  restoreRecord,
  lockAdding,
  findNamed,
  lockLedgers,
  storeLedgers,
  dueLedgers,
}
