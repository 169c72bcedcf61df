/**
 * The enrolments in a record as one list, wherever they are written: with the member or beside it, alone or in a list, with
 * their own status and dates or with those of the record around them (spec "Beneficiary record", public standard 2.4).
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
import { memberKey } from './member-keys.ts'
import { elementsOf } from './registers.ts'

export interface RecordScope {
  readonly kind: Kind
  readonly recordType: RecordType
}

/** The list of enrolments, and the object that holds it where the record has one. */
const LIST = 'programme_identifier'
const HOLDER = 'member'

/** What an enrolment says beside its programme; a record or a programme may say it for its enrolments. */
const SAID = ['enrolment_status', 'enrolment_date', 'enrolment_end_date', 'status_change_date', 'benefits'] as const

/** Also the end of an enrolment, where it stands in one. */
const END_DATES: ReadonlyMap<string, string> = new Map([['end_date', 'enrolment_end_date']])

const OF_ENROLMENT: ReadonlySet<string> = new Set(SAID)
const TAKEN: ReadonlySet<string> = new Set([LIST, ...SAID])

/** An enrolment: its members under their canonical names, and others as they are. */
export type EnrolmentElement = JsonObject

export interface TakenEnrolments {
  /** The record without them. */
  readonly rest: JsonObject
  readonly elements: readonly EnrolmentElement[]
  /** Whether they stood alone, or not at all, in place of a list. */
  readonly alone: boolean
}

/** Takes the enrolments out of a record, or out of a part of one. One without any is as it was. */
export function takeEnrolments(record: JsonObject): TakenEnrolments {
  const outer = partition(record, TAKEN)
  const holder = holderOf(outer.rest)
  const inner = holder === null ? null : partition(holder.object, TAKEN)
  const lists = [inner?.taken.get(LIST), outer.taken.get(LIST)]
  const shared = new Map([...withoutList(outer.taken), ...withoutList(inner?.taken)])
  const elements = lists.flatMap(elementsOf).map((element) => elementOf(element, shared))
  if (elements.length === 0) return { rest: record, elements, alone: !lists.some(Array.isArray) }
  const rest = holder === null || inner === null ? outer.rest : { ...outer.rest, [holder.name]: inner.rest }
  return { rest, elements, alone: !lists.some(Array.isArray) }
}

/** The record with its enrolments where they belong: in the member where it has one. */
export function putEnrolments(rest: JsonObject, list: JsonValue | undefined): JsonObject {
  if (list === undefined) return rest
  const holder = holderOf(rest)
  if (holder === null) return { ...rest, [LIST]: list }
  return { ...rest, [holder.name]: { ...holder.object, [LIST]: list } }
}

function holderOf(record: JsonObject): { readonly name: string; readonly object: JsonObject } | null {
  for (const [name, object] of Object.entries(record)) {
    if (memberKey(name) === HOLDER && isJsonObject(object)) return { name, object }
  }
  return null
}

const withoutList = (taken: ReadonlyMap<string, JsonValue> = new Map()) => [...taken].filter(([name]) => name !== LIST)

/** What stands in place of an enrolment is its programme's identifier. */
function elementOf(value: JsonValue, shared: ReadonlyMap<string, JsonValue>): EnrolmentElement {
  const object: JsonObject = isJsonObject(value) ? value : { programme: { programme_identifier: value } }
  const own = partition(object, OF_ENROLMENT, END_DATES)
  const programme = Object.entries(own.rest).find(([name]) => memberKey(name) === 'programme')
  const [name, inside] = programme ?? []
  const said = name !== undefined && isJsonObject(inside) ? partition(inside, OF_ENROLMENT, END_DATES) : null
  const rest = name === undefined || said === null ? own.rest : { ...own.rest, [name]: said.rest }
  return { ...rest, ...Object.fromEntries([...shared, ...(said?.taken ?? []), ...own.taken]) }
}

/** The members of these names, in any spelling, by their canonical names; and all others. */
function partition(object: JsonObject, names: ReadonlySet<string>, spellings: ReadonlyMap<string, string> = new Map()) {
  const taken = new Map<string, JsonValue>()
  const rest: [string, JsonValue][] = []
  for (const [name, value] of Object.entries(object)) {
    const found = memberKey(name)
    const key = spellings.get(found) ?? found
    if (!names.has(key)) rest.push([name, value])
    else if (value !== '') taken.set(key, value)
  }
  return { taken, rest: Object.fromEntries(rest) as JsonObject }
}

/** By what the programme of an enrolment is known; null where the enrolment names none. */
export function programmeKey({ kind, recordType }: RecordScope, element: JsonValue): string | null {
  const list = recordType.keyed_lists.find(({ name }) => name === 'programme')
  return list === undefined ? null : (elementKeys(kind, recordType, list, pathOf(list), element)[0] ?? null)
}

const pathOf = ({ paths }: KeyedList): string => paths[0] ?? ''
