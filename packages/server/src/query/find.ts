/** From what is asked to the records: the day, the shortest way to them, the statement. */

import { dayIn, type RecordType } from '@rollcall/protocol'
import type { Limits } from '../limits.ts'
import type { Found, Page } from '../model/records.ts'
import type { RegistryShape } from '../model/registry.ts'
import type { Database } from '../store/db/database.ts'
import { recordTable } from '../store/records/record-tables.ts'
import { findByIdentifier, findRecords, type Reading } from '../store/records/records.ts'
import { atDay } from './at-day.ts'
import type { AskedKey } from './page.ts'
import type { Predicate } from './predicate.ts'
import { toSql } from './sql/to-sql.ts'

/** What find needs of the server; a `Context` is one. */
export interface Finder {
  readonly db: Database
  readonly limits: Pick<Limits, 'search_results'>
}

/** A registry, and where its days begin; a `Registry` is one. */
export interface FoundIn extends RegistryShape {
  /** An IANA time zone; UTC where none is given. */
  readonly time_zone?: string
}

/** What is asked for, read; `SearchCriteria` is one. */
export interface Asked {
  readonly recordType: RecordType
  readonly predicate: Predicate
  readonly sort: readonly AskedKey[]
  readonly page_size: number
  /** From 1. */
  readonly page_number: number
}

/**
 * The page of records that match, and how many match in all, the limit of results and one when it is more than that.
 * A query for one identifier takes a way of its own, past everything that may be slow.
 */
export function find(
  { db, limits }: Finder,
  registry: FoundIn,
  asked: Asked,
  reading?: Reading,
): Promise<Found> {
  const { recordType, predicate } = asked
  const cap = limits.search_results
  const page = { ...pageOf(registry, asked, cap), ...(reading !== undefined && { ids: cap }) }
  const identifier = predicate.is === 'identifier' ? predicate.identifiers : []
  const [only] = identifier
  if (only !== undefined && identifier.length === 1) {
    return findByIdentifier(db, registry, recordType, only, page, reading)
  }
  const table = recordTable(registry, recordType)
  return findRecords(db, table, toSql(today(registry, asked), table), page, reading)
}

/** Whether it asks for one identifier in no order: that takes none of the connections of searches. */
export function isLookUp({ predicate, sort }: Pick<Asked, 'predicate' | 'sort'>): boolean {
  return predicate.is === 'identifier' && predicate.identifiers.length === 1 && sort.length === 0
}

/** The predicate as it stands on this day of the registry. */
export function today(registry: FoundIn, { predicate, recordType }: Asked): Predicate {
  return atDay(predicate, recordType, dayOf(registry))
}

export function pageOf(registry: FoundIn, asked: Asked, cap: number): Page {
  const { page_size, page_number } = asked
  const sort = asked.sort.map(({ age, ...key }) => (age ? { ...key, until: dayOf(registry) } : key))
  return { sort, limit: page_size, offset: page_size * (page_number - 1), cap }
}

const dayOf = ({ time_zone = 'UTC' }: FoundIn): string => dayIn(time_zone, Date.now())
