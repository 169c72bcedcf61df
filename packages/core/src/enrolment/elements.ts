/**
 * Splits a record into a list of its enrolments and the rest. The enrolments are in the object `member` or beside it, single or
 * in a list. An enrolment takes a missing status or date from the record (spec "Beneficiary record", public standard 2.4).
 */
import { elementKeys, isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import type { KindAndRecordType } from './keyed-paths.ts'
import { memberSearchKey } from './member-keys.ts'
import { elementsOfValue } from './registers.ts'

/** The member that has the enrolments, in the record or in the object `member` of the record. */
const ENROLMENT_LIST_MEMBER = 'programme_identifier'
/** The object of a record that may have the member `programme_identifier`, with the enrolments. */
const ENROLMENT_HOLDER_MEMBER = 'member'

/**
 * The members of an enrolment besides its programme. If an enrolment lacks such a member, the member is taken from the object of
 * its programme, or else from the record.
 */
const ENROLMENT_MEMBERS = ['enrolment_status', 'enrolment_date', 'enrolment_end_date', 'status_change_date', 'benefits'] as const

/** `end_date` as another spelling of `enrolment_end_date`, accepted only inside an enrolment or its programme. */
const END_DATE_SPELLINGS: ReadonlyMap<string, string> = new Map([['end_date', 'enrolment_end_date']])

const ENROLMENT_MEMBER_NAMES: ReadonlySet<string> = new Set(ENROLMENT_MEMBERS)
/** The members of a record that are about its enrolments: their list, and values that apply to all of them. */
const ENROLMENT_MEMBERS_IN_RECORD: ReadonlySet<string> = new Set([ENROLMENT_LIST_MEMBER, ...ENROLMENT_MEMBERS])

/** One enrolment as JSON: its own members under their canonical names, other members unchanged. */
export type EnrolmentElement = JsonObject

/** A record split into its enrolments and the rest. */
export interface EnrolmentsAndRest {
  /** The record without its enrolments; unchanged when it has none. */
  readonly rest: JsonObject
  readonly elements: readonly EnrolmentElement[]
  /** True when the record has no array of enrolments: `programme_identifier` has a single value, or is missing. */
  readonly alone: boolean
}

/** Returns the enrolments of a record, or of a part of one, and a copy of the record without them. */
export function splitEnrolments(record: JsonObject): EnrolmentsAndRest {
  const outer = takeListedMembers(record, ENROLMENT_MEMBERS_IN_RECORD)
  const holder = findObjectNamedMember(outer.rest)
  const inner = holder === null ? null : takeListedMembers(holder.object, ENROLMENT_MEMBERS_IN_RECORD)
  const lists = [inner?.taken.get(ENROLMENT_LIST_MEMBER), outer.taken.get(ENROLMENT_LIST_MEMBER)]
  const shared = new Map([...listMembersForAllEnrolments(outer.taken), ...listMembersForAllEnrolments(inner?.taken)])
  const elements = lists.flatMap(elementsOfValue).map((element) => enrolmentFromElement(element, shared))
  if (elements.length === 0) return { rest: record, elements, alone: !lists.some(Array.isArray) }
  const rest = holder === null || inner === null ? outer.rest : { ...outer.rest, [holder.name]: inner.rest }
  return { rest, elements, alone: !lists.some(Array.isArray) }
}

/** Returns the record with a list of enrolments, in its `member` object if there is one. */
export function putEnrolments(rest: JsonObject, list: JsonValue | undefined): JsonObject {
  if (list === undefined) return rest
  const holder = findObjectNamedMember(rest)
  if (holder === null) return { ...rest, [ENROLMENT_LIST_MEMBER]: list }
  return { ...rest, [holder.name]: { ...holder.object, [ENROLMENT_LIST_MEMBER]: list } }
}

/** Finds the object `member` of a record, with the name as the record spells it; null when there is none. */
function findObjectNamedMember(record: JsonObject): { readonly name: string; readonly object: JsonObject } | null {
  for (const [name, object] of Object.entries(record)) {
    if (memberSearchKey(name) === ENROLMENT_HOLDER_MEMBER && isJsonObject(object)) return { name, object }
  }
  return null
}

/** Lists the values that apply to all enrolments. @param taken members that `takeListedMembers` has taken out of a record */
const listMembersForAllEnrolments = (taken: ReadonlyMap<string, JsonValue> = new Map()) =>
  [...taken].filter(([name]) => name !== ENROLMENT_LIST_MEMBER)

/**
 * One element of `programme_identifier` as an enrolment. An element that is not an object is the identifier of a programme.
 * @param shared members of the record that apply to all its enrolments
 */
function enrolmentFromElement(value: JsonValue, shared: ReadonlyMap<string, JsonValue>): EnrolmentElement {
  const object: JsonObject = isJsonObject(value) ? value : { programme: { programme_identifier: value } }
  const own = takeListedMembers(object, ENROLMENT_MEMBER_NAMES, END_DATE_SPELLINGS)
  const programme = Object.entries(own.rest).find(([name]) => memberSearchKey(name) === 'programme')
  const [name, inside] = programme ?? []
  const inProgramme =
    name !== undefined && isJsonObject(inside) ? takeListedMembers(inside, ENROLMENT_MEMBER_NAMES, END_DATE_SPELLINGS) : null
  const rest = name === undefined || inProgramme === null ? own.rest : { ...own.rest, [name]: inProgramme.rest }
  return { ...rest, ...Object.fromEntries([...shared, ...(inProgramme?.taken ?? []), ...own.taken]) }
}

/**
 * Splits an object into the members that `names` lists, stored under these names, and all other members. A listed member with an
 * empty text is dropped.
 * @param spellings other spellings of listed names
 */
function takeListedMembers(object: JsonObject, names: ReadonlySet<string>, spellings: ReadonlyMap<string, string> = new Map()) {
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

/** The key of an enrolment's programme in a ledger; null when the enrolment or its record type has no programme. */
export function programmeKey({ kind, recordType }: KindAndRecordType, element: JsonValue): string | null {
  const list = recordType.keyed_lists.find(({ name }) => name === 'programme')
  return list === undefined ? null : (elementKeys(kind, recordType, list, list.paths[0] ?? '', element)[0] ?? null)
}
