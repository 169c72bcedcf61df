/** Reads and checks one beneficiary of an update: the person's identifiers, and the members to write. */
import {
  type Attribute,
  CODE_LISTS,
  type CodeListName,
  dayInterval,
  formProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberNamed,
  normaliseCode,
  type RecordIdentifier,
  readAttribute,
  readIdentifiers,
  recordTypesOf,
  resolveRecordType,
  UNLISTED,
} from '@rollcall/protocol'
import { type EnrolmentElement, programmeKey, splitEnrolments } from './elements.ts'
import { type KeyedListPaths, type KindAndRecordType, keyedListPaths } from './keyed-paths.ts'
import { memberSearchKey } from './member-keys.ts'
import { elementsOfValue } from './registers.ts'

/** A beneficiary that cannot be written. The message names the member and the rule, never a value. */
export class InvalidBeneficiary extends Error {
  override readonly name = 'InvalidBeneficiary'
}

/** The new status of an enrolment, as an update writes it. */
export interface StatusChange {
  readonly status: JsonValue
  /** The date as the update writes it; null when the update has none. Then the time of the update's message is used. */
  readonly date: string | null
}

export interface BenefitsToWrite {
  /** The benefits that an update writes into one enrolment, by the key from `benefitKey`. */
  readonly elements: ReadonlyMap<string, JsonValue>
  /** True when the update has no array of benefits: it has one benefit as a plain object, or no benefit. */
  readonly alone: boolean
}

/** One enrolment of an update, as it is written into the record. */
export interface EnrolmentToWrite {
  /** The key of the programme (`programmeKey`). */
  readonly programme: string
  /** The members of the enrolment to write, except status and benefits. */
  readonly members: JsonObject
  readonly change: StatusChange | null
  readonly benefits: BenefitsToWrite
}

/** A person in an update, with the members and the enrolments to write into the person's record. */
export interface Beneficiary {
  /** The identifiers of the person. An identifier whose type is not in the kind's list is left out. */
  readonly identifiers: readonly RecordIdentifier[]
  /** The members of the record to write, except the enrolments. */
  readonly members: JsonObject
  readonly enrolments: readonly EnrolmentToWrite[]
  /** True when `programme_identifier` has a single value and no array. An update without this member is refused. */
  readonly alone: boolean
}

/**
 * The longest JSON text, in characters. The limit applies to one beneficiary of an update, and to the record after the update.
 */
export const MOST_RECORD_CHARACTERS = 1_048_576

/** The most enrolments of one beneficiary in an update: as many as a record may have programmes. */
const MOST_ENROLMENTS = 200

/**
 * The most benefits in all enrolments of one beneficiary in an update. A record of `MOST_RECORD_CHARACTERS` has room for about as
 * many benefits with their usual members.
 */
const MOST_BENEFITS = 10_000

/** Reads a beneficiary from an update. @throws InvalidBeneficiary */
export function readBeneficiary(scope: KindAndRecordType, value: unknown): Beneficiary {
  if (!isJsonObject(value)) throw new InvalidBeneficiary('beneficiaries: each must be an object')
  if (JSON.stringify(value).length > MOST_RECORD_CHARACTERS) {
    throw new InvalidBeneficiary(`must not be longer than ${MOST_RECORD_CHARACTERS} characters`)
  }
  checkTypeMember(scope, value['@type'])
  const paths = keyedListPaths(scope.recordType)
  checkKeyMemberSpellings(paths.keys, value)
  const record = moveIdentifiersIntoLists(scope, withoutEmptyMembers(paths, value, ''))
  const identifiers = readIdentifiers(scope.kind, scope.recordType, record).filter(
    ({ names, type }) => names === 'record' && type !== UNLISTED.name,
  )
  checkIdentifierCountAndForm(scope, identifiers)
  const { rest, elements, alone } = splitEnrolments(record)
  if (elements.length === 0) throw new InvalidBeneficiary('member.programme_identifier: is required')
  checkEnrolmentAndBenefitCounts(elements)
  const readLists: BenefitListCache = new Map()
  const enrolments = elements.map((element) => readEnrolment(scope, element, readLists))
  return { identifiers, members: withoutStatusOutsideEnrolments(rest), enrolments, alone }
}

/** Checks that `@type` is missing, or has the record's type among its values. @throws InvalidBeneficiary */
function checkTypeMember({ kind, recordType }: KindAndRecordType, type: JsonValue | undefined): void {
  const named = elementsOfValue(type)
  const isOwn = (one: JsonValue): boolean =>
    typeof one === 'string' &&
    (resolveRecordType(kind, one) === recordType || recordTypesOf(kind, { '@type': one }).includes(recordType))
  if (named.length > 0 && !named.some(isOwn)) {
    throw new InvalidBeneficiary(`@type: must be ${recordType.name}`)
  }
}

/**
 * Checks the spelling of the members that identify the person and the programmes. The check of the grant reads each member once,
 * in a known spelling. A second or unknown spelling would be written into the record unchecked, so it is refused.
 * @param keys the paths of these members (`KeyedListPaths`)
 * @throws InvalidBeneficiary
 */
function checkKeyMemberSpellings(keys: ReadonlySet<string>, value: JsonValue, path = ''): void {
  if (Array.isArray(value)) for (const element of value) checkKeyMemberSpellings(keys, element, path)
  if (!isJsonObject(value)) return
  const found = new Set<string>()
  for (const [name, inside] of Object.entries(value)) {
    const key = memberSearchKey(name)
    const place = path === '' ? key : `${path}.${key}`
    if (!keys.has(place)) continue
    if (found.has(key)) throw new InvalidBeneficiary(`${place}: must be given once, in one spelling`)
    if (name !== key && memberNamed({ [name]: true }, key) === undefined) {
      throw new InvalidBeneficiary(`${place}: must be in a known spelling, without capitals and spaces`)
    }
    found.add(key)
    checkKeyMemberSpellings(keys, inside, place)
  }
}

/**
 * Removes what would give a missing status or date to every enrolment of the record: the whole object `programme` of the record
 * itself (not of an enrolment), and each `enrolment_status` in `additional_attributes`.
 */
function withoutStatusOutsideEnrolments(record: JsonObject): JsonObject {
  const members = Object.entries(record).filter(([name]) => memberSearchKey(name) !== 'programme')
  return withoutStatusInAttributes(Object.fromEntries(members))
}

/** Removes enrolment statuses in `additional_attributes`: only the status of the enrolment itself has a history. */
function withoutStatusInAttributes(record: JsonObject): JsonObject {
  const attributes = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(attributes)
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => memberSearchKey(name) !== 'enrolment_status'))
  }
  const members = Object.entries(record).map(([name, value]): [string, JsonValue] => {
    if (memberSearchKey(name) === 'additional_attributes') return [name, attributes(value)]
    return [name, memberSearchKey(name) === 'member' && isJsonObject(value) ? withoutStatusInAttributes(value) : value]
  })
  return Object.fromEntries(members)
}

function checkIdentifierCountAndForm(
  { kind, recordType: { primary_identifier: primary } }: KindAndRecordType,
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
 * Removes empty texts, except within lists. An update never removes a keyed list (such as identifiers or enrolments), so a null
 * for a keyed list, or for an object that contains one, is removed from the update. Any other null stays: it removes the member
 * from the record.
 * @throws InvalidBeneficiary the update has a number, boolean, list or text (not empty) for an object that contains a keyed list
 */
function withoutEmptyMembers(paths: KeyedListPaths, object: JsonObject, path: string): JsonObject {
  const kept = Object.entries(object).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === '') return []
    const place = path === '' ? memberSearchKey(name) : `${path}.${memberSearchKey(name)}`
    if (isJsonObject(value)) return [[name, withoutEmptyMembers(paths, value, place)]]
    if (paths.lists.has(place)) return value === null ? [] : [[name, value]]
    if (!paths.above.has(place)) return [[name, value]]
    if (value === null) return []
    throw new InvalidBeneficiary(`${place}: must be an object`)
  })
  return Object.fromEntries(kept)
}

/**
 * Moves an identifier that is written directly in a person into the person's list of identifiers. So, after two updates with
 * different identifiers, the record has both.
 */
function moveIdentifiersIntoLists({ recordType }: KindAndRecordType, record: JsonObject): JsonObject {
  return recordType.identifiers
    .filter(({ type }) => type === undefined)
    .reduce((found, { path }) => changeObjectAtPath(found, path.split('.'), withIdentifierMovedIntoList), record)
}

function changeObjectAtPath(
  object: JsonObject,
  [first = '', ...others]: readonly string[],
  change: (object: JsonObject) => JsonObject,
): JsonObject {
  const members = Object.entries(object)
  if (!members.some(([name, value]) => memberSearchKey(name) === first && isJsonObject(value))) return object
  const changed = members.map(([name, value]): [string, JsonValue] => {
    if (memberSearchKey(name) !== first || !isJsonObject(value)) return [name, value]
    return [name, others.length === 0 ? change(value) : changeObjectAtPath(value, others, change)]
  })
  return Object.fromEntries(changed)
}

/**
 * Moves the members `identifier_type` and `identifier_value` of a person into the list `identifier`. If the update has only one
 * of the two, this one is removed: in the record, it would be combined with the other half of an older identifier.
 */
function withIdentifierMovedIntoList(person: JsonObject): JsonObject {
  const members = Object.entries(person)
  const others = Object.fromEntries(members.filter(([name]) => !IDENTIFIER_TYPE_AND_VALUE.has(memberSearchKey(name))))
  const identifier_type = memberNamed(person, 'identifier_type')
  const identifier_value = memberNamed(person, 'identifier_value')
  if (identifier_type === undefined || identifier_value === undefined) return others
  const name = Object.keys(others).find((one) => memberSearchKey(one) === 'identifier') ?? 'identifier'
  return { ...others, [name]: [...elementsOfValue(others[name]), { identifier_type, identifier_value }] }
}

const IDENTIFIER_TYPE_AND_VALUE: ReadonlySet<string> = new Set(['identifier_type', 'identifier_value'])

/**
 * Checks the number of enrolments and of benefits. The benefits beside the enrolments are written into each enrolment, so they
 * count for each. @throws InvalidBeneficiary
 */
function checkEnrolmentAndBenefitCounts(elements: readonly EnrolmentElement[]): void {
  if (elements.length > MOST_ENROLMENTS) {
    throw new InvalidBeneficiary(`member.programme_identifier: must have at most ${MOST_ENROLMENTS} enrolments`)
  }
  const count = elements.reduce((sum, { benefits }) => sum + elementsOfValue(benefits).length, 0)
  if (count > MOST_BENEFITS) {
    throw new InvalidBeneficiary(`benefits: must be at most ${MOST_BENEFITS}, counted for each enrolment that they apply to`)
  }
}

/**
 * The results of `readBenefits` so far. The key is the JSON value `benefits`: the same object in all enrolments that take the
 * benefits of the record.
 */
type BenefitListCache = Map<JsonValue | undefined, BenefitsToWrite>

function readEnrolment(scope: KindAndRecordType, element: EnrolmentElement, readLists: BenefitListCache): EnrolmentToWrite {
  const { enrolment_status, status_change_date, benefits, ...members } = normaliseEnrolmentTexts(element)
  const givenProgramme = Object.entries(members).find(([name]) => memberSearchKey(name) === 'programme')?.[1]
  if (Array.isArray(givenProgramme) && givenProgramme.length > 1) {
    throw new InvalidBeneficiary('programme: must be one programme; each has an enrolment of its own')
  }
  const programme = programmeKey(scope, members)
  if (programme === null || programmeKeyText(programme).length > MOST_PROGRAMME_CHARACTERS) {
    const rule = `must be a text of 1 to ${MOST_PROGRAMME_CHARACTERS} characters`
    throw new InvalidBeneficiary(`programme.programme_identifier: ${rule}`)
  }
  checkDateFormsAndOrder(members)
  const status = readEnrolmentStatus(scope, enrolment_status)
  const date = checkedDate('status_change_date', unwrapSingleElement(status_change_date))
  if (status === null && date !== null) {
    throw new InvalidBeneficiary('enrolment_status: is required with status_change_date')
  }
  const read = readLists.get(benefits) ?? readBenefits(benefits)
  readLists.set(benefits, read)
  return { programme, members, change: status === null ? null : { status, date }, benefits: read }
}

const MOST_PROGRAMME_CHARACTERS = 500

/** The programme identifier as plain text. @param key a key from `programmeKey`: a JSON list with the identifier */
const programmeKeyText = (key: string): string => [JSON.parse(key)].flat().join('')

/** Removes empty texts from an enrolment, and turns a programme identifier that is a whole number into text. */
function normaliseEnrolmentTexts(element: EnrolmentElement): EnrolmentElement {
  const members = Object.entries(element).flatMap(([name, value]): [string, JsonValue][] => {
    if (value === '') return []
    if (memberSearchKey(name) === 'programme_identifier') return [[name, programmeIdText(value)]]
    return [[name, memberSearchKey(name) === 'programme' && isJsonObject(value) ? normaliseEnrolmentTexts(value) : value]]
  })
  return Object.fromEntries(members)
}

function programmeIdText(value: JsonValue): JsonValue {
  if (typeof value !== 'number') return value
  if (Number.isSafeInteger(value) && value >= 0) return String(value)
  throw new InvalidBeneficiary('programme.programme_identifier: must be a text, or a whole number')
}

/** The only element of a list of one; any other value unchanged. */
const unwrapSingleElement = (value: JsonValue | undefined): JsonValue | undefined =>
  Array.isArray(value) && value.length === 1 ? value[0] : value

function checkDateFormsAndOrder(members: JsonObject): void {
  const [begin, end] = ['enrolment_date', 'enrolment_end_date'].map((name) => {
    return checkedDate(name, members[name])
  })
  const [from, to] = [begin && dayInterval(begin), end && dayInterval(end)]
  if (from && to && to.to < from.from) {
    throw new InvalidBeneficiary('enrolment_end_date: must not be before enrolment_date')
  }
}

/** Checks that a member is a date, and returns it; null when the member is missing. @throws InvalidBeneficiary */
function checkedDate(name: string, value: JsonValue | undefined): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' && dayInterval(value) !== null) return value
  throw new InvalidBeneficiary(`${name}: must be a date`)
}

function readEnrolmentStatus({ recordType }: KindAndRecordType, value: JsonValue | undefined): JsonValue | null {
  if (value === undefined || value === null) return null
  const codes = recordType.compounds?.flatMap(({ members }) => members).find(({ name }) => name === 'enrolment_status')?.codes
  if (codes === undefined || isInCodeList(codes, value)) return value
  const names = CODE_LISTS[codes].map(([, label]) => label).join(', ')
  throw new InvalidBeneficiary(`enrolment_status: must be one of ${names}`)
}

function isInCodeList(list: CodeListName, value: JsonValue): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const code = normaliseCode(list, String(value))
  return CODE_LISTS[list].some(([known]) => known === code)
}

function readBenefits(value: JsonValue | undefined): BenefitsToWrite {
  const elements = elementsOfValue(value).map((benefit): [string, JsonValue] => {
    if (!isJsonObject(benefit)) throw new InvalidBeneficiary('benefits: must be an object, or a list of objects')
    const date = Object.entries(benefit).find(([name]) => memberSearchKey(name) === 'benefit_date')?.[1]
    checkedDate('benefits.benefit_date', date === '' ? null : date)
    return [benefitKey(benefit), benefit]
  })
  return { elements: new Map(elements), alone: !Array.isArray(value) }
}

const BENEFIT_DATE_ATTRIBUTE: Attribute = { name: 'benefit_date', paths: ['benefit_date'], type: 'date' }
const BENEFIT_TYPE_ATTRIBUTE: Attribute = { name: 'benefit_type', paths: ['benefit_type'], type: 'code', codes: 'benefit_type' }

/** The key of a benefit: the first day of its benefit_date, and its type. A later benefit replaces one with the same key. */
export function benefitKey(benefit: JsonValue): string {
  const date = readAttribute(BENEFIT_DATE_ATTRIBUTE, benefit)
  const type = readAttribute(BENEFIT_TYPE_ATTRIBUTE, benefit)
  return JSON.stringify([typeof date === 'object' && date !== null && 'from' in date ? date.from : '', type ?? ''])
}
