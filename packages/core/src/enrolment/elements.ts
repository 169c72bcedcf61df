/**
 * Splits a record into a list of its enrolments and the rest, wherever the enrolments are written: in the object
 * `member` or beside it, single or in a list, with their own status and dates or with those of the record around them
 * (spec "Beneficiary record", public standard 2.4).
 */
import {
  elementKeys,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KeyedList,
  type Kind,
  type RecordType,
} from '@rollcall/protocol'
import { memberSearchKey } from './member-keys.ts'
import { elementsOfValue } from './registers.ts'

export interface KindAndRecordType {
  readonly kind: Kind
  readonly recordType: RecordType
}

/** The member that has the enrolments, in the record or in the object `member` of the record. */
const ENROLMENT_LIST_MEMBER = 'programme_identifier'
/** The object of a record that may have the member with the enrolments. */
const ENROLMENT_HOLDER_MEMBER = 'member'

/**
 * The members of an enrolment besides its programme. When the record or the programme has one of them, it applies to
 * those of its enrolments that do not have this member themselves.
 */
const ENROLMENT_MEMBERS = ['enrolment_status', 'enrolment_date', 'enrolment_end_date', 'status_change_date', 'benefits'] as const

/** `end_date` as another spelling of `enrolment_end_date`, accepted only inside an enrolment or its programme. */
const END_DATE_SPELLINGS: ReadonlyMap<string, string> = new Map([['end_date', 'enrolment_end_date']])

const ENROLMENT_MEMBER_NAMES: ReadonlySet<string> = new Set(ENROLMENT_MEMBERS)
const SPLIT_OFF_MEMBER_NAMES: ReadonlySet<string> = new Set([ENROLMENT_LIST_MEMBER, ...ENROLMENT_MEMBERS])

/** One enrolment as JSON: its own members under their canonical names, other members unchanged. */
export type EnrolmentElement = JsonObject

/** A record split into its enrolments and the rest. */
export interface SplitRecord {
  /** The record without its enrolments; unchanged when it has none. */
  readonly rest: JsonObject
  readonly elements: readonly EnrolmentElement[]
  /** True when the record has no list of enrolments: only single values, or none. */
  readonly alone: boolean
}

/** Returns the enrolments of a record, or of a part of one, and a copy of the record without them. */
export function splitEnrolments(record: JsonObject): SplitRecord {
  const outer = partitionMembers(record, SPLIT_OFF_MEMBER_NAMES)
  const holder = findEnrolmentHolder(outer.rest)
  const inner = holder === null ? null : partitionMembers(holder.object, SPLIT_OFF_MEMBER_NAMES)
  const lists = [inner?.taken.get(ENROLMENT_LIST_MEMBER), outer.taken.get(ENROLMENT_LIST_MEMBER)]
  const shared = new Map([...entriesWithoutList(outer.taken), ...entriesWithoutList(inner?.taken)])
  const elements = lists.flatMap(elementsOfValue).map((element) => enrolmentFromElement(element, shared))
  if (elements.length === 0) return { rest: record, elements, alone: !lists.some(Array.isArray) }
  const rest = holder === null || inner === null ? outer.rest : { ...outer.rest, [holder.name]: inner.rest }
  return { rest, elements, alone: !lists.some(Array.isArray) }
}

/** Returns the record with a list of enrolments, in its `member` object if there is one. */
export function putEnrolments(rest: JsonObject, list: JsonValue | undefined): JsonObject {
  if (list === undefined) return rest
  const holder = findEnrolmentHolder(rest)
  if (holder === null) return { ...rest, [ENROLMENT_LIST_MEMBER]: list }
  return { ...rest, [holder.name]: { ...holder.object, [ENROLMENT_LIST_MEMBER]: list } }
}

function findEnrolmentHolder(record: JsonObject): { readonly name: string; readonly object: JsonObject } | null {
  for (const [name, object] of Object.entries(record)) {
    if (memberSearchKey(name) === ENROLMENT_HOLDER_MEMBER && isJsonObject(object)) return { name, object }
  }
  return null
}

const entriesWithoutList = (taken: ReadonlyMap<string, JsonValue> = new Map()) =>
  [...taken].filter(([name]) => name !== ENROLMENT_LIST_MEMBER)

/** One element of the list as an enrolment. An element that is not an object is the identifier of a programme. */
function enrolmentFromElement(value: JsonValue, shared: ReadonlyMap<string, JsonValue>): EnrolmentElement {
  const object: JsonObject = isJsonObject(value) ? value : { programme: { programme_identifier: value } }
  const own = partitionMembers(object, ENROLMENT_MEMBER_NAMES, END_DATE_SPELLINGS)
  const programme = Object.entries(own.rest).find(([name]) => memberSearchKey(name) === 'programme')
  const [name, inside] = programme ?? []
  const inProgramme =
    name !== undefined && isJsonObject(inside) ? partitionMembers(inside, ENROLMENT_MEMBER_NAMES, END_DATE_SPELLINGS) : null
  const rest = name === undefined || inProgramme === null ? own.rest : { ...own.rest, [name]: inProgramme.rest }
  return { ...rest, ...Object.fromEntries([...shared, ...(inProgramme?.taken ?? []), ...own.taken]) }
}

/**
 * Splits an object into the members with these names, stored under canonical names, and all other members. A member
 * with one of the names and an empty text is dropped.
 */
function partitionMembers(object: JsonObject, names: ReadonlySet<string>, spellings: ReadonlyMap<string, string> = new Map()) {
  const taken = new Map<string, JsonValue>()
  const members = Object.entries(object)
  const rest = members.filter(([name, value]) => {
    const found = memberSearchKey(name)
    const key = spellings.get(found) ?? found
    if (!names.has(key)) return true
    if (value !== '') taken.set(key, value)
    return false
  })
  return { taken, rest: rest.length === members.length ? object : (Object.fromEntries(rest) as JsonObject) }
}

/** The key of the programme in a ledger; null when the record type has none, or the enrolment names none. */
export function programmeKey({ kind, recordType }: KindAndRecordType, element: JsonValue): string | null {
  const list = recordType.keyed_lists.find(({ name }) => name === 'programme')
  return list === undefined ? null : (elementKeys(kind, recordType, list, firstListPath(list), element)[0] ?? null)
}

const firstListPath = ({ paths }: KeyedList): string => paths[0] ?? ''
