/**
 * Reads records of any source by the rules of all sources: who is protected, which identifiers find a merged record, and what a
 * query means. A source may return more records than match; this reader leaves out those that do not match. For our own tables,
 * SQL has the same rules.
 */
import { type AttributeValue, isJsonObject, type JsonValue, type Kind, type RecordType } from '@rollcall/protocol'
import { identifiersNamingRecord } from '../model/person-identifiers.ts'
import type { Predicate } from '../model/predicate.ts'
import { type Protection, protectedPersonsOwningRecord, withoutProtectedPersons } from '../model/protection.ts'
import type { RecordReader, RetiredRecordDocument } from '../model/record-source.ts'
import type { FoundRecord, Identifier, RecordId } from '../model/records.ts'
import type { RegistryShape } from '../model/registry.ts'
import { lazyRecordValues, type SearchableValues } from '../query/memory/extract-record.ts'
import { matches } from '../query/memory/matches.ts'
import { compareBySortKeys, sortValuesOf } from '../query/memory/order.ts'

/** A record as its source returns it. */
export interface SourceRecord extends FoundRecord {
  /** The time at which the record was last written. */
  readonly written: Date
  /** The records that were merged into this record. */
  readonly merged: readonly RetiredRecordDocument[]
  /** The parsed document, when the source has parsed it. */
  readonly value?: JsonValue
}

/** One portion of the records that a source yields for a search. */
export interface SearchCandidatePortion {
  readonly records: readonly SourceRecord[]
  /** The number of rows that the source read for this portion, with those that cannot become records. */
  readonly rows: number
}

/** The functions that a source of records must have. A source need not know protected persons or grants. */
export interface SearchCandidateSource {
  /** The most rows that a search reads; if there are more, the search reports too many records. Absent: no limit. */
  readonly most?: number
  /**
   * Yields all records that satisfy the predicate; it may yield others too. The order is that in which the records were added, or
   * another one that does not change. The predicate is about the records without protected persons (`withoutProtectedPersons`). A
   * condition `identifier` also finds a record by the identifiers of records that were merged into it.
   * @param predicate with ages replaced by dates; null for all records
   * @param after the record after which to begin; null for the first
   * @throws SearchTimeout
   */
  candidates(
    registry: RegistryShape,
    recordType: RecordType,
    predicate: Predicate | null,
    after: RecordId | null,
  ): AsyncIterable<SearchCandidatePortion>
  /** Reads the records with these ids in their current state, in this order. Deleted records are left out. */
  read(registry: RegistryShape, recordType: RecordType, ids: readonly RecordId[]): Promise<readonly SourceRecord[]>
}

/**
 * Makes a reader of a source's records that applies the rules of all sources.
 * @param protectionOf reads the protected persons of a registry
 */
export function makeSourceReader(
  { candidates, read: readRecords, most = Number.POSITIVE_INFINITY }: SearchCandidateSource,
  protectionOf: (registry: RegistryShape) => Promise<Protection>,
): RecordReader {
  return {
    async find(registry, { recordType, predicate, page: { sort, limit, offset, cap, ids = 0, categories = [] } }) {
      const guard = makeProtectedPersonGuard(registry.kind, recordType, await protectionOf(registry))
      const hits: SearchHit[] = []
      let candidateCount = 0
      search: for await (const { records, rows } of candidates(registry, recordType, predicate, null)) {
        candidateCount += rows
        if (candidateCount > most) return { total: cap + 1, records: [], ids: [], tooManyRows: true }
        for (const record of records) {
          const read: JsonValue = record.value ?? JSON.parse(record.document)
          if (guard.isHidden(record, categories, read)) continue
          const { document, extracted } = guard.seen(record, read)
          if (!matches(predicate, extracted)) continue
          const values = sortValuesOf(registry.kind, recordType, sort, document, extracted)
          hits.push({ record: { id: record.id, document: record.document }, values })
          if (hits.length > cap) break search
        }
      }
      hits.sort((one, other) => compareBySortKeys(sort, one.values, other.values))
      const records = hits.slice(offset, offset + limit).map(({ record }) => record)
      return { total: hits.length, records, ids: hits.length <= ids ? hits.map(({ record }) => record.id) : [] }
    },
    async read(registry, recordType, ids, categories = []) {
      const guard = makeProtectedPersonGuard(registry.kind, recordType, await protectionOf(registry))
      const records = await readRecords(registry, recordType, ids)
      return records.filter((record) => !guard.isHidden(record, categories)).map(({ id, document }) => ({ id, document }))
    },
    async merged(registry, recordType, ids) {
      const records = await readRecords(registry, recordType, ids)
      return new Map(records.flatMap(({ id, merged }) => (merged.length === 0 ? [] : [[id, merged] as const])))
    },
    async named(registry, recordType, values) {
      const wanted = new Set(values)
      if (wanted.size === 0) return []
      const type = recordType.primary_identifier
      const identifiers = [...wanted].map((value) => ({ type, value }))
      const found = []
      for await (const { records } of candidates(registry, recordType, { is: 'identifier', identifiers }, null)) {
        for (const { id, document, merged } of records) {
          const aliases = merged.flatMap((one) => identifiersInDocument(registry.kind, recordType, one.document))
          const names = [...identifiersInDocument(registry.kind, recordType, document), ...aliases]
          if (names.some((one) => one.type === type && wanted.has(one.value))) found.push({ id, document, aliases })
        }
      }
      return found
    },
    async categories(registry, recordType, ids) {
      const guard = makeProtectedPersonGuard(registry.kind, recordType, await protectionOf(registry))
      if (!guard.hidesSome) return new Map()
      const records = await readRecords(registry, recordType, ids)
      const found = records.map((record) => [record.id, guard.categoriesOf(record)] as const)
      return new Map(found.filter(([, categories]) => categories.length > 0))
    },
    async count(registry, recordType) {
      let count = 0
      for await (const { records } of candidates(registry, recordType, null, null)) count += records.length
      return count
    },
    async page(registry, { recordType, predicate, since, after, limit }) {
      const guard = makeProtectedPersonGuard(registry.kind, recordType, await protectionOf(registry))
      const found = []
      page: for await (const { records } of candidates(registry, recordType, predicate, after)) {
        for (const record of records) {
          const { id, document, written } = record
          if (since !== null && written < since) continue
          if (predicate !== null && !matches(predicate, guard.seen(record).extracted)) continue
          found.push({ id, document, written })
          if (found.length === limit) break page
        }
      }
      return found
    },
  }
}

/** A record that satisfies the predicate of a search, with the values of its sort keys. */
interface SearchHit {
  readonly record: FoundRecord
  readonly values: readonly (AttributeValue | undefined)[]
}

interface ProtectedPersonGuard {
  /** True when at least one person of the registry is protected. */
  readonly hidesSome: boolean
  /** The categories under which the person of the record is protected, each once. */
  categoriesOf(record: SourceRecord, read?: JsonValue): readonly string[]
  /**
   * True when the person of the record is protected under a category that is not given.
   * @param read the parsed document, if the caller has it
   */
  isHidden(record: SourceRecord, categories: readonly string[], read?: JsonValue): boolean
  /** Returns the document without protected persons, and the values in it on which queries are tested. */
  seen(record: SourceRecord, read?: JsonValue): { readonly document: JsonValue; readonly extracted: SearchableValues }
}

function makeProtectedPersonGuard(kind: Kind, recordType: RecordType, protection: Protection): ProtectedPersonGuard {
  const hidesSome = protection.byProtectingIdentifier.size > 0
  const categoriesOf: ProtectedPersonGuard['categoriesOf'] = ({ document, merged }, read = JSON.parse(document)) => {
    const documents = [read, ...merged.map((one) => JSON.parse(one.document))]
    const persons = documents.flatMap((one) => protectedPersonsOwningRecord(kind, recordType, protection, one))
    return [...new Set(persons.map(({ category }) => category))]
  }
  return {
    hidesSome,
    categoriesOf,
    isHidden: (record, categories, read) =>
      hidesSome && categoriesOf(record, read).some((category) => !categories.includes(category)),
    seen({ document: text, merged }, read: JsonValue = JSON.parse(text)) {
      const document = isJsonObject(read) ? withoutProtectedPersons(kind, recordType, protection, read).document : read
      const aliases = merged.flatMap((one) => identifiersInDocument(kind, recordType, one.document))
      return { document, extracted: lazyRecordValues(kind, recordType, document, aliases) }
    },
  }
}

const identifiersInDocument = (kind: Kind, recordType: RecordType, document: string): readonly Identifier[] =>
  identifiersNamingRecord(kind, recordType, JSON.parse(document))
