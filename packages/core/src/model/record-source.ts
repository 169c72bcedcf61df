/**
 * The source of records. Operations use only this interface: one source is the tables that an import fills
 * (`records/own-records.ts` of the package records); a registry's own database can be another.
 */
import type { RecordType } from '@rollcall/protocol'
import type { ModeName } from './exchange.ts'
import type { Predicate } from './predicate.ts'
import type { Found, FoundRecord, Identifier, Page, RecordId } from './records.ts'
import type { RegistryShape } from './registry.ts'

export interface RecordQuery {
  readonly recordType: RecordType
  /** The condition; ages in it are bound to a day (`resolveAges`). */
  readonly predicate: Predicate
  readonly page: Page
  /** The id of the participant who asks; absent for a search of the operator. */
  readonly participant?: number
}

export interface RecordReader {
  /** Finds a page of records. @throws SearchTimeout */
  find(registry: RegistryShape, query: RecordQuery): Promise<Found>
  /**
   * Reads records by their ids again, in this order. Deleted records are left out.
   * @param categories categories of protected persons whose records are read too
   */
  read(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
    categories?: readonly string[],
  ): Promise<readonly FoundRecord[]>
  /** The records that were merged into these records, by record. A record without any is left out. */
  merged(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
  ): Promise<ReadonlyMap<RecordId, readonly MergedRecord[]>>
  /**
   * Finds the records that other records name, also those of protected persons: the caller decides who may see them. A
   * merged record is found in its survivor.
   * @param identifiers normalised values of the primary identifier; those that no record has are left out
   */
  named(
    registry: RegistryShape,
    recordType: RecordType,
    identifiers: readonly string[],
  ): Promise<readonly NamedRecord[]>
  /**
   * The categories under which the persons of these records are protected, by record; a record whose person is not
   * protected is left out. Our own tables also know the protection of deleted records, other sources do not: whoever
   * asks about a record that may be gone must judge its last document as well (`protectedAs`).
   */
  categories(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
  ): Promise<ReadonlyMap<RecordId, readonly string[]>>
  /** Counts all records, those of protected persons among them. It may take long: for a person who asks. */
  count(registry: RegistryShape, recordType: RecordType): Promise<number>
  /** Reads all records a page at a time, those of protected persons among them; an empty page is the end. */
  page(registry: RegistryShape, query: PageQuery): Promise<readonly PagedRecord[]>
}

/** A record that was merged into another. */
export interface MergedRecord {
  readonly id: RecordId
  /** Canonical JSON, as it was when the record was merged. */
  readonly document: string
}

export interface NamedRecord extends FoundRecord {
  /** Identifiers of records that were merged into it. */
  readonly aliases: readonly Identifier[]
}

export interface PageQuery {
  readonly recordType: RecordType
  /** Ages are bound to a day (`resolveAges`); null: all records. */
  readonly predicate: Predicate | null
  /** Only records that were written at this time or later; null: all. */
  readonly since: Date | null
  /** The last record of the page before: the mark to go on from; null: at the beginning. */
  readonly after: RecordId | null
  /** Records, at least 1. */
  readonly limit: number
}

export interface PagedRecord extends FoundRecord {
  /** The time of the last write. */
  readonly written: Date
}

export interface RecordSource {
  /**
   * Why the source cannot answer a query, as the rule of its refusal; null: it can. Without it a source answers every query.
   * @throws RecordsUnavailable
   */
  refusal?(registry: RegistryShape, query: Pick<RecordQuery, 'recordType' | 'predicate'>): Promise<string | null>
  /** Reads the newest state. */
  reader(mode: ModeName): RecordReader
  /**
   * Runs the work on one unchanging state of the records, for asynchronous requests. Its searches run one after
   * another, and a search that takes too long does not end it. Throws what the work throws.
   */
  session<Result>(work: (state: RecordReader) => Promise<Result>): Promise<Result>
}

/** A search took longer than allowed. Its cause is the source's own error. */
export class SearchTimeout extends Error {
  override readonly name = 'SearchTimeout'
  /** Seconds that it may take; undefined: as long as searches of our own tables. */
  readonly seconds: number | undefined

  constructor(cause: unknown, seconds?: number) {
    super('a search took too long', { cause })
    this.seconds = seconds
  }
}

/** The records are away, and may be back in a moment. Its cause is the source's own error; null: it was not asked. */
export class RecordsUnavailable extends Error {
  override readonly name = 'RecordsUnavailable'

  constructor(cause: unknown) {
    super('the database of the records is away', { cause })
  }
}

/** Whether the query asks for one identifier without a sort: a look-up is never slow, and waits for no slot. */
export function isLookUp({ predicate, page }: Pick<RecordQuery, 'predicate' | 'page'>): boolean {
  return predicate.is === 'identifier' && predicate.identifiers.length === 1 && page.sort.length === 0
}
