/** Reads the order and page of a result (spec "SearchRequest": sort, pagination; D23). */

import {
  ItemRejection,
  isJsonObject,
  isSortedIdentifier,
  type JsonValue,
  type Kind,
  PageRequest,
  type RecordType,
  resolveAttribute,
  resolveIdentifierType,
} from '@rollcall/protocol'
import type { Limits } from '../limits.ts'
import type { SortKey } from '../model/records.ts'
import { findMisspeltMember } from './near-names.ts'

/** The limits of a page. No page may begin after the result with the number `search_results`. */
export type PageLimits = Pick<Limits, 'page_size' | 'search_results'>

/** The number of records in a page when the request has no `pagination`; a smaller limit replaces it. */
const DEFAULT_PAGE_SIZE = 10

/** A sort key of a request, before the day of the search is known. */
export interface SortKeyWithoutDay extends Omit<SortKey, 'until'> {
  /** True when the request names an age: the key is the date from which the age is counted. `makeRecordQuery` adds `until`. */
  readonly age?: true
}

const MAX_SORT_KEYS = 100
const PAGE_MEMBERS = Object.keys(PageRequest.properties)
const SORT_KEY_MEMBERS = ['attribute_name', 'sort_order']

/**
 * Reads the sort keys. A key without attribute_name is ignored. A key may name a sortable attribute, or a
 * sortable identifier type such as UIN: the primary type, and types that the kind or the operator makes sortable.
 * @param kind the kind, reduced to the attributes and identifier types that the participant may ask about
 * @throws ItemRejection rjct.sort.invalid
 */
export function readSort(kind: Kind, recordType: RecordType, sort: unknown): SortKeyWithoutDay[] {
  if (sort === undefined) return []
  if (!Array.isArray(sort)) throw invalidSort('search_criteria.sort: must be an array')
  const keys: SortKeyWithoutDay[] = []
  if (sort.length > MAX_SORT_KEYS) throw invalidSort(`search_criteria.sort: must have at most ${MAX_SORT_KEYS} keys`)
  for (const [index, element] of (sort as unknown[]).entries()) {
    const at = `search_criteria.sort[${index}]`
    if (!isJsonObject(element)) throw invalidSort(`${at}: must be an object`)
    const unknown = Object.keys(element).find((member) => !SORT_KEY_MEMBERS.includes(member))
    if (unknown !== undefined) {
      throw invalidSort(`${at}: has a member that is not known; known are ${SORT_KEY_MEMBERS.join(', ')}`)
    }
    const { attribute_name, sort_order } = element
    if (attribute_name === undefined || attribute_name === '') continue
    const descending = isDescending(sort_order, at)
    const key = typeof attribute_name === 'string' ? sortKeyOf(kind, recordType, attribute_name, descending) : undefined
    if (key === undefined) {
      const sortable = sortableNames(kind, recordType)
      const rule = sortable.length === 0 ? 'nothing can be sorted by here' : `must be one of ${sortable.join(', ')}`
      throw invalidSort(`${at}.attribute_name: ${rule}`)
    }
    if (keys.some((earlier) => earlier.attribute === key.attribute)) {
      throw invalidSort(`${at}.attribute_name: repeats an earlier one`)
    }
    keys.push(key)
  }
  return keys
}

function sortableNames({ identifier_types }: Kind, recordType: RecordType): string[] {
  const identifiers = identifier_types.filter(({ name }) => isSortedIdentifier(recordType, name))
  return [...recordType.attributes.filter(({ sortable }) => sortable), ...identifiers].map(({ name }) => name)
}

/**
 * The sort key for a name; undefined when records cannot be sorted by the name. An age is sorted by the date from which it is
 * counted, in the opposite direction: the oldest person has the earliest date.
 */
function sortKeyOf(kind: Kind, recordType: RecordType, spelling: string, descending: boolean): SortKeyWithoutDay | undefined {
  const attribute = resolveAttribute(recordType, spelling)
  if (attribute === undefined) {
    const name = resolveIdentifierType(kind, spelling)?.name
    return name !== undefined && isSortedIdentifier(recordType, name) ? { attribute: name, descending } : undefined
  }
  const { name, since, sortable } = attribute
  if (!sortable) return undefined
  return since === undefined ? { attribute: name, descending } : { attribute: since, descending: !descending, age: true }
}

function isDescending(sort_order: unknown, at: string): boolean {
  if (sort_order === undefined || sort_order === '') return false
  const order = typeof sort_order === 'string' ? sort_order.toLowerCase() : ''
  if (order !== 'asc' && order !== 'desc') throw invalidSort(`${at}.sort_order: must be asc or desc`)
  return order === 'desc'
}

/**
 * Reads the page from the criteria or, if they have none, from the item. If both have a page, both must be valid (D23).
 * @throws ItemRejection rjct.pagination.invalid
 */
export function readAskedPage(
  criteria: { readonly pagination?: unknown },
  item: { readonly pagination?: unknown },
  limits: PageLimits,
): PageNumberAndSize {
  const beside = readPage(item.pagination, 'pagination', limits)
  if (criteria.pagination === undefined) return beside
  return readPage(criteria.pagination, 'search_criteria.pagination', limits)
}

interface PageNumberAndSize {
  readonly page_size: number
  readonly page_number: number
}

/**
 * Reads a page. The schema of a message has refused wrong types and values below 1 (D23), but an operator's file for
 * `rollcall explain` is checked only here.
 */
function readPage(pagination: unknown, path: string, limits: PageLimits): PageNumberAndSize {
  if (pagination === undefined) return { page_size: Math.min(DEFAULT_PAGE_SIZE, limits.page_size), page_number: 1 }
  const given = isJsonObject(pagination) ? pagination : {}
  const found = findMisspeltMember(given, PAGE_MEMBERS)
  if (found !== undefined) {
    throw invalidPage(`${path}.${found.member}: is not known; ${found.meant} may be meant`)
  }
  const { page_size, page_number = 1 } = given
  if (!isPositiveInteger(page_size) || !isPositiveInteger(page_number)) {
    throw invalidPage(`${path}: must be {page_size, page_number}, whole numbers from 1`)
  }
  if (page_size > limits.page_size) {
    throw invalidPage(`${path}.page_size: must be at most ${limits.page_size}`)
  }
  const lastPage = Math.ceil(limits.search_results / page_size)
  if (page_number > lastPage) {
    throw invalidPage(`${path}.page_number: must be at most ${lastPage} with this page_size`)
  }
  return { page_size, page_number }
}

function isPositiveInteger(value: JsonValue | undefined): value is number {
  return Number.isInteger(value) && Number(value) >= 1
}

const invalidSort = (message: string): ItemRejection => new ItemRejection('rjct.sort.invalid', message)
const invalidPage = (message: string): ItemRejection => new ItemRejection('rjct.pagination.invalid', message)
