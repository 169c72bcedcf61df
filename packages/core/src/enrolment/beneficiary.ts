/** One beneficiary of an update, read and checked: who it is, and what is written of it. */
import {
  type Attribute,
  CODE_LISTS,
  type CodeListName,
  dayInterval,
  formProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  normaliseCode,
  type RecordIdentifier,
  readAttribute,
  readIdentifiers,
  recordTypesOf,
  resolveRecordType,
  UNLISTED,
} from '@rollcall/protocol'
import { type EnrolmentElement, programmeKey, type RecordScope, takeEnrolments } from './elements.ts'
import { type KeyedPaths, keyedPaths } from './keyed-paths.ts'
import { memberKey } from './member-keys.ts'
import { elementsOf } from './registers.ts'

/** A beneficiary that cannot be written. The message names the member and the rule, never a value. */
export class InvalidBeneficiary extends Error {
  override readonly name = 'InvalidBeneficiary'
}

export interface StatusChange {
  readonly status: JsonValue
  /** As it is written; null: the update has none, and it counts from the time of its message. */
  readonly date: string | null
}

export interface Benefits {
  /** By type and date. */
  readonly elements: ReadonlyMap<string, JsonValue>
  /** One that stands alone in place of a list. */
  readonly alone: boolean
}

export interface EnrolmentUpdate {
  /** By what its programme is known. */
  readonly programme: string
  /** What is written beside its status and its benefits. */
  readonly members: JsonObject
  readonly change: StatusChange | null
  readonly benefits: Benefits
}

export interface Beneficiary {
  /** Those that name the person, by types that the kind lists. */
  readonly identifiers: readonly RecordIdentifier[]
  /** What is written beside the enrolments. */
  readonly members: JsonObject
  readonly enrolments: readonly EnrolmentUpdate[]
  readonly alone: boolean
}

/** Of a record as text: updates join it, and none may let it grow for ever. */
export const RECORD_LENGTH = 1_048_576

/** @throws InvalidBeneficiary */
export function readBeneficiary(scope: RecordScope, value: unknown): Beneficiary {
  if (!isJsonObject(value)) throw new InvalidBeneficiary('must be an object')
  if (JSON.stringify(value).length > RECORD_LENGTH) {
    throw new InvalidBeneficiary(`must not be longer than ${RECORD_LENGTH} characters`)
  }
  checkType(scope, value['@type'])
  const record = identifiersListed(scope, said(keyedPaths(scope.recordType), value, ''))
  const identifiers = readIdentifiers(scope.kind, scope.recordType, record).filter(
    ({ names, type }) => names === 'record' && type !== UNLISTED.name,
  )
  checkIdentifiers(scope, identifiers)
  const { rest, elements, alone } = takeEnrolments(record)
  if (elements.length === 0) throw new InvalidBeneficiary('member.programme_identifier: is required')
  const enrolments = elements.map((element) => readEnrolment(scope, element))
  return { identifiers, members: withoutStatus(rest), enrolments, alone }
}

/** One type, or several of which one is the record's. */
function checkType({ kind, recordType }: RecordScope, type: JsonValue | undefined): void {
  const named = elementsOf(type)
  const isOwn = (one: JsonValue): boolean =>
    typeof one === 'string' &&
    (resolveRecordType(kind, one) === recordType || recordTypesOf(kind, { '@type': one }).includes(recordType))
  if (named.length > 0 && !named.some(isOwn)) {
    throw new InvalidBeneficiary(`@type: must be ${recordType.name}`)
  }
}

/** A status in `additional_attributes` would be one without a history: an enrolment says it. */
function withoutStatus(record: JsonObject): JsonObject {
  const attributes = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(attributes)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => memberKey(name) !== 'enrolment_status'))
  }
  const members = Object.entries(record).map(([name, value]): [string, JsonValue] => {
    if (memberKey(name) === 'additional_attributes') return [name, attributes(value)]
    return [name, memberKey(name) === 'member' && isJsonObject(value) ? withoutStatus(value) : value]
  })
  return Object.fromEntries(members)
}

function checkIdentifiers(
  { kind, recordType: { primary_identifier: primary } }: RecordScope,
  identifiers: readonly RecordIdentifier[],
): void {
  if (identifiers.length === 0) {
    throw new InvalidBeneficiary('member.member_identifier: must have an identifier of the person')
  }
  if (identifiers.filter(({ type }) => type === primary).length > 1) {
    throw new InvalidBeneficiary(`member.member_identifier: must have one ${primary} only`)
  }
  const problem = formProblem(kind, identifiers)
  if (problem !== null) throw new InvalidBeneficiary(`member.member_identifier: ${problem}`)
}

/**
 * Without members that say nothing: an empty text anywhere, and null where identifiers or enrolments stand, which no
 * update takes away.
 */
function said(paths: KeyedPaths, object: JsonObject, path: string): JsonObject {
  const kept = Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === '') return []
    const place = path === '' ? memberKey(name) : `${path}.${memberKey(name)}`
    if (isJsonObject(value)) return [[name, said(paths, value, place)]]
    if (paths.lists.has(place)) return value === null ? [] : [[name, value]]
    if (!paths.above.has(place)) return [[name, value]]
    if (value === null) return []
    throw new InvalidBeneficiary(`${place}: must be an object`)
  })
  return Object.fromEntries(kept)
}

/** An identifier that a person is, rather than has, joins the person's list: two updates with different ones lose none. */
function identifiersListed({ recordType }: RecordScope, record: JsonObject): JsonObject {
  return recordType.identifiers
    .filter(({ type }) => type === undefined)
    .reduce((found, { path }) => changedAt(found, path.split('.'), listed), record)
}

function changedAt(
  object: JsonObject,
  [first = '', ...others]: readonly string[],
  change: (object: JsonObject) => JsonObject,
): JsonObject {
  const changed = Object.entries(object).map(([name, value]): [string, JsonValue] => {
    if (memberKey(name) !== first || !isJsonObject(value)) return [name, value]
    return [name, others.length === 0 ? change(value) : changedAt(value, others, change)]
  })
  return Object.fromEntries(changed)
}

function listed(person: JsonObject): JsonObject {
  const { identifier_type, identifier_value, ...others } = person
  if (identifier_type === undefined || identifier_value === undefined) return person
  const name = Object.keys(others).find((one) => memberKey(one) === 'identifier') ?? 'identifier'
  return { ...others, [name]: [...elementsOf(others[name]), { identifier_type, identifier_value }] }
}

function readEnrolment(scope: RecordScope, element: EnrolmentElement): EnrolmentUpdate {
  const { enrolment_status, status_change_date, benefits, ...members } = withText(element)
  const named = Object.entries(members).find(([name]) => memberKey(name) === 'programme')?.[1]
  if (Array.isArray(named) && named.length > 1) {
    throw new InvalidBeneficiary('programme: must be one programme; each has an enrolment of its own')
  }
  const programme = programmeKey(scope, members)
  if (programme === null || programme.length > PROGRAMME_LENGTH) {
    const rule = `must be a text of 1 to ${PROGRAMME_LENGTH} characters`
    throw new InvalidBeneficiary(`programme.programme_identifier: ${rule}`)
  }
  checkDates(members)
  const status = checkedStatus(scope, enrolment_status)
  const date = checkedDate('status_change_date', onlyOf(status_change_date))
  if (status === null && date !== null) {
    throw new InvalidBeneficiary('enrolment_status: is required with status_change_date')
  }
  return { programme, members, change: status === null ? null : { status, date }, benefits: readBenefits(benefits) }
}

const PROGRAMME_LENGTH = 500

/** Without empty texts. A programme's identifier that is written as a whole number is read by its digits (3.1). */
function withText(element: EnrolmentElement): EnrolmentElement {
  const members = Object.entries(element).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === '') return []
    if (memberKey(name) === 'programme_identifier') return [[name, digits(value)]]
    return [[name, memberKey(name) === 'programme' && isJsonObject(value) ? withText(value) : value]]
  })
  return Object.fromEntries(members)
}

function digits(value: JsonValue): JsonValue {
  if (typeof value !== 'number') return value
  if (Number.isSafeInteger(value) && value >= 0) return String(value)
  throw new InvalidBeneficiary('programme.programme_identifier: must be a text, or a whole number')
}

/** A list of one in place of a value. */
const onlyOf = (value: JsonValue | undefined): JsonValue | undefined =>
  Array.isArray(value) && value.length === 1 ? value[0] : value

function checkDates(members: JsonObject): void {
  const [begin, end] = ['enrolment_date', 'enrolment_end_date'].map((name) => {
    return checkedDate(name, members[name])
  })
  const [from, to] = [begin && dayInterval(begin), end && dayInterval(end)]
  if (from && to && to.to < from.from) {
    throw new InvalidBeneficiary('enrolment_end_date: must not be before enrolment_date')
  }
}

/** @returns null where there is none */
function checkedDate(name: string, value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' && dayInterval(value) !== null) return value
  throw new InvalidBeneficiary(`${name}: must be a date`)
}

function checkedStatus({ recordType }: RecordScope, value: JsonValue | undefined): JsonValue | null {
  if (value === undefined || value === null) return null
  const codes = recordType.compounds
    ?.flatMap(({ members }) => members)
    .find(({ name }) => name === 'enrolment_status')?.codes
  if (codes === undefined || isListed(codes, value)) return value
  const names = CODE_LISTS[codes].map(([, label]) => label).join(', ')
  throw new InvalidBeneficiary(`enrolment_status: must be one of ${names}`)
}

function isListed(list: CodeListName, value: JsonValue): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const code = normaliseCode(list, String(value))
  return CODE_LISTS[list].some(([known]) => known === code)
}

function readBenefits(value: JsonValue | undefined): Benefits {
  const elements = elementsOf(value).map((benefit): [string, JsonValue] => {
    if (!isJsonObject(benefit)) throw new InvalidBeneficiary('benefits: must be an object, or a list of objects')
    const date = Object.entries(benefit).find(([name]) => memberKey(name) === 'benefit_date')?.[1]
    checkedDate('benefits.benefit_date', date === '' ? null : date)
    return [benefitKey(benefit), benefit]
  })
  return { elements: new Map(elements), alone: !Array.isArray(value) }
}

const BENEFIT_DATE: Attribute = { name: 'benefit_date', paths: ['benefit_date'], type: 'date' }
const BENEFIT_TYPE: Attribute = { name: 'benefit_type', paths: ['benefit_type'], type: 'code', codes: 'benefit_type' }

/** A benefit is known by its day and its type. */
export function benefitKey(benefit: JsonValue): string {
  const date = readAttribute(BENEFIT_DATE, benefit)
  const type = readAttribute(BENEFIT_TYPE, benefit)
  return JSON.stringify([typeof date === 'object' && date !== null && 'from' in date ? date.from : '', type ?? ''])
}
