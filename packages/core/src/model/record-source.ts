/**
 * Where records come from. Operations know a source by this interface alone: the tables that an import fills are one
 * (`records/own-records.ts` of the package records), a registry's own database can be another.
 */
import type { RecordType } from '@rollcall/protocol'
import type { ModeName } from './exchange.ts'
import type { Predicate } from './predicate.ts'
import type { Found, FoundRecord, Page, RecordId } from './records.ts'
import type { RegistryShape } from './registry.ts'

export interface RecordQuery {
  readonly recordType: RecordType
  /** Which records; ages are bound to a day (`atDay`). */
  readonly predicate: Predicate
  readonly page: Page
  /** The id of the participant who asks; left out where the operator does. */
  readonly participant?: number
}

export interface RecordReader {
  /**
   * Finds a page of records.
   * @throws SearchTimeout
   */
  find(registry: RegistryShape, query: RecordQuery): Promise<Found>
  /**
   * Reads these records again, in this order; of those that are gone, nothing.
   * @param categories of protected persons whose records are read too
   */
  read(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
    categories?: readonly string[],
  ): Promise<readonly FoundRecord[]>
  /** The documents of records that were merged into these, by record; a record without any is left out. */
  merged(
    registry: RegistryShape,
    recordType: RecordType,
    ids: readonly RecordId[],
  ): Promise<ReadonlyMap<RecordId, readonly string[]>>
}

export interface RecordSource {
  /** Reads the newest state. */
  reader(mode: ModeName): RecordReader
  /**
   * Lets the work read one state of the records, whatever is committed meanwhile; for asynchronous requests. It answers
   * one question after the other, and a search that takes too long does not end it. Throws what the work throws.
   */
  session<Result>(work: (state: RecordReader) => Promise<Result>): Promise<Result>
}

/** A search took longer than it may. Its cause is the source's own error. */
export class SearchTimeout extends Error {
  override readonly name = 'SearchTimeout'

  constructor(cause: unknown) {
    super('a search took too long', { cause })
  }
}

/** Whether it asks for one identifier in no order: a look-up, which is never slow and waits for no turn. */
export function isLookUp({ predicate, page }: Pick<RecordQuery, 'predicate' | 'page'>): boolean {
  return predicate.is === 'identifier' && predicate.identifiers.length === 1 && page.sort.length === 0
}
