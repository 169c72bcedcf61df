/**
 * The functions that write the records of a registry. They write into our own tables only: records in a source outside are only
 * read.
 */

import { identifiersWithEqualDocument } from './complete-records.ts'
import { deleteRecords } from './delete-records.ts'
import { dueLedgers, findByIdentifiers, lockAddedPersons, lockLedgers, storeLedgers } from './enrolment-ledgers.ts'
import { findRecordsWithIdentifier, restoreRecord, retireRecord } from './merge-records.ts'
import { lockRecord, writeRecords } from './record-writer.ts'
import { aliasesOf } from './retired-records.ts'

/**
 * The functions that write records. All but `dueLedgers` run in the caller's transaction, on its connection. A record id is
 * the one that the registry's `RecordSource` returns. The functions themselves document what they promise and throw.
 */
export interface RecordSink {
  readonly writeRecords: typeof writeRecords
  readonly unchangedAmong: typeof identifiersWithEqualDocument
  readonly lockRecord: typeof lockRecord
  readonly deleteRecords: typeof deleteRecords
  readonly findRecordsWithIdentifier: typeof findRecordsWithIdentifier
  readonly aliasesOf: typeof aliasesOf
  readonly retireRecord: typeof retireRecord
  readonly restoreRecord: typeof restoreRecord
  readonly lockAddedPersons: typeof lockAddedPersons
  readonly findByIdentifiers: typeof findByIdentifiers
  readonly lockLedgers: typeof lockLedgers
  readonly storeLedgers: typeof storeLedgers
  readonly dueLedgers: typeof dueLedgers
}

/** The functions that write records into our own tables. */
export const OWN_TABLES_SINK: RecordSink = {
  writeRecords,
  unchangedAmong: identifiersWithEqualDocument,
  lockRecord,
  deleteRecords,
  findRecordsWithIdentifier,
  aliasesOf,
  retireRecord,
  restoreRecord,
  lockAddedPersons,
  findByIdentifiers,
  lockLedgers,
  storeLedgers,
  dueLedgers,
}
