/**
 * The interface for reading records. All operations use it. The records may be in our own tables
 * (`records/own-records.ts`), or in a registry's own database.
 */
import type { RecordType } from '@rollcall/protocol'
import type { ModeName } from './exchange.ts'
import type { Predicate } from './predicate.ts'
import type { FoundPage, FoundRecord, Identifier, RecordId, SearchPageRequest } from './records.ts'
import type { RegistryShape } from './registry.ts'

export interface RecordQuery {
  readonly recordType: RecordType
  /** The condition, with ages replaced by dates (`replaceAgesByDates`). */
  readonly predicate: Predicate
  readonly page: SearchPageRequest
  /** The id of the asking participant; absent for a search of the operator. */
  readonly participant?: number
}

export interface RecordReader {
  /** Finds one page of records. @throws SearchTimeout */
  find(registry: RegistryShape, query: RecordQuery): Promise<FoundPage>
  /**
   * Reads records again by their ids, in this order. Deleted records, and records of protected persons, are left out.
   * @param categories the categories whose protected persons are included
   */
  read(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
    categories?: readonly string[],
  ): Promise<readonly FoundRecord[]>
  /** For each of these records, the records that were merged into it. A record without any is left out. */
  merged(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
  ): Promise<ReadonlyMap<RecordId, readonly RetiredRecordDocument[]>>
  /**
   * Finds the records that other records name, protected ones too: the caller decides who may see them. For a merged
   * record, the survivor is found.
   * @param identifiers normalised primary identifiers; those that no record has are left out
   */
  named(registry: RegistryShape, recordType: RecordType, identifiers: readonly string[]): Promise<readonly RecordNamedByAnother[]>
  /**
   * For each record, the categories under which its person is protected; an unprotected record is left out. Readers other than
   * that of our own tables leave out deleted records too. So, for a record that may be deleted, the caller must also check the
   * last document of the record (`protectedPersonsOwningRecord`).
   */
  categories(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
  ): Promise<ReadonlyMap<RecordId, readonly string[]>>
  /** Counts all records, protected ones too. It may take long: do not call it in a request. */
  count(registry: RegistryShape, recordType: RecordType): Promise<number>
  /** Reads one page of the records that fulfil a condition, protected ones too; an empty one after the last page. */
  page(registry: RegistryShape, query: RecordPageQuery): Promise<readonly RecordWithWriteTime[]>
}

/** A record that was merged into another one. */
export interface RetiredRecordDocument {
  readonly id: RecordId
  /** The document at the time of the merge, as canonical JSON. */
  readonly document: string
}

/** A record that another record names by its primary identifier. */
export interface RecordNamedByAnother extends FoundRecord {
  /** The identifiers of the records that were merged into this record. */
  readonly aliases: readonly Identifier[]
}

/** The request for one page of records (`RecordReader.page`). */
export interface RecordPageQuery {
  readonly recordType: RecordType
  /** The condition, with ages replaced by dates (`replaceAgesByDates`); null for all records. */
  readonly predicate: Predicate | null
  /** Only records that were written at this time or later; null for records of any time. */
  readonly since: Date | null
  /** The id of the last record of the page before; null for the first page. */
  readonly after: RecordId | null
  /** The number of records in a page, at least 1. */
  readonly limit: number
}

export interface RecordWithWriteTime extends FoundRecord {
  /** The time at which the record was last written. */
  readonly written: Date
}

/** The place from which records are read: our own tables, or the registry office's database. */
export interface RecordSource {
  /**
   * Why the source cannot answer a query, in words for the refusal; null when it can. A source without this function answers all.
   * The refusal may name what the kind of `registry` and the record type have. So the caller passes both reduced to what the
   * participant may ask about.
   * @throws RecordsUnavailable
   */
  refusal?(registry: RegistryShape, query: Pick<RecordQuery, 'recordType' | 'predicate'>): Promise<string | null>
  /**
   * Returns a reader that always reads the newest state of the records.
   * @param mode the mode in which the request is answered
   */
  reader(mode: ModeName): RecordReader
  /**
   * Runs work on one state of the records that does not change, for asynchronous requests. Searches run one after another, and a
   * search that takes too long does not end the work. Throws what the work throws, or RecordsUnavailable.
   */
  session<Result>(work: (state: RecordReader) => Promise<Result>): Promise<Result>
}

/** A search took longer than it may. The cause is the error of the source. */
export class SearchTimeout extends Error {
  override readonly name = 'SearchTimeout'
  /** The time limit that the search exceeded, in seconds; undefined for a search in our own tables. */
  readonly seconds: number | undefined

  constructor(cause: unknown, seconds?: number) {
    super('a search took too long', { cause })
    this.seconds = seconds
  }
}

/** The records cannot be read at present. The cause is the error of the source; null when there is no error. */
export class RecordsUnavailable extends Error {
  override readonly name = 'RecordsUnavailable'

  constructor(cause: unknown) {
    super('the database of the records is away', { cause })
  }
}

/** True for a query for one identifier without a sort. Such a look-up is fast, and needs no search slot. */
export function isLookUp({ predicate, page }: Pick<RecordQuery, 'predicate' | 'page'>): boolean {
  return predicate.is === 'identifier' && predicate.identifiers.length === 1 && page.sort.length === 0
}
