/**
 * Reads the enrolments of a record in every published place and spelling (spec "Beneficiary record", public standard
 * 2.4). The record type's compound `enrolment` has the paths of the enrolments, as for a search.
 */
import {
  type Compound,
  type CompoundMember,
  dayIn,
  dayInterval,
  instantInterval,
  type JsonObject,
  type JsonValue,
  normaliseCode,
  type RecordType,
  readElements,
} from '@rollcall/protocol'
import { oncePerObject } from '../model/once-per.ts'

/**
 * An enrolment of a person in a programme. A member that the enrolment lacks is taken from the record; the member is null when
 * the record has no value for it, or several.
 */
export interface Enrolment {
  /** The identifier of the programme, in a form without case and accents, for comparing. */
  readonly programme: string | null
  readonly programme_identifier: string | null
  readonly programme_name: string | null
  /** The code of the status from the kind's list; a status that is not in the list, in lower case. */
  readonly status: string | null
  readonly status_as_written: string | null
  /** The dates are as written: a day, a part of a date such as 2026-03, or an instant. */
  readonly enrolment_date: string | null
  readonly end_date: string | null
  readonly status_change_date: string | null
}

const ENROLMENT_COMPOUND = 'enrolment'
/** The status of a person who is enrolled now, as its label in the code lists. */
const ACTIVE_STATUS_LABEL = 'Active'

const END_DATE_MEMBER: CompoundMember = {
  name: 'end_date',
  paths: ['enrolment_end_date', 'end_date', 'programme.enrolment_end_date', 'programme.end_date'],
  record_paths: ['member.enrolment_end_date', 'enrolment_end_date'],
  type: 'text',
}
const STATUS_CHANGE_DATE_MEMBER: CompoundMember = {
  name: 'status_change_date',
  paths: ['status_change_date', 'programme.status_change_date'],
  record_paths: ['member.status_change_date', 'status_change_date'],
  type: 'text',
}

interface EnrolmentReadingPlan {
  readonly compound: Compound
  readonly activeStatus: string | null
}

/** Where records of a type store enrolments, and which status is active, computed once; null when they have no enrolments. */
const enrolmentReadingPlanOf = oncePerObject((recordType: RecordType): EnrolmentReadingPlan | null => {
  const compound = recordType.compounds?.find(({ name }) => name === ENROLMENT_COMPOUND)
  if (compound === undefined) return null
  const member = (name: string): CompoundMember => {
    const found = compound.members.find((one) => one.name === name)
    if (found === undefined) throw new Error(`${compound.name} has no member ${name}`)
    return found
  }
  const asWritten = (name: string, as = name): CompoundMember => {
    const { paths, record_paths } = member(name)
    return { name: as, paths, ...(record_paths && { record_paths }), type: 'text' }
  }
  const status = member('enrolment_status')
  return {
    compound: {
      ...compound,
      members: [
        { ...member('programme_identifier'), name: 'programme' },
        asWritten('programme_identifier'),
        asWritten('programme_name'),
        { ...status, name: 'status' },
        asWritten('enrolment_status', 'status_as_written'),
        asWritten('enrolment_date'),
        END_DATE_MEMBER,
        STATUS_CHANGE_DATE_MEMBER,
      ],
    },
    activeStatus: status.codes === undefined ? ACTIVE_STATUS_LABEL : normaliseCode(status.codes, ACTIVE_STATUS_LABEL),
  }
})

/**
 * The enrolments of a record, in the order of the document. Each has a programme or a status. Empty when records of the type have
 * no enrolments. A malformed document does not make the function throw.
 */
export function readEnrolments(recordType: RecordType, document: JsonValue): readonly Enrolment[] {
  const plan = enrolmentReadingPlanOf(recordType)
  if (plan === null) return []
  return readElements(plan.compound, document).flatMap((element) => {
    const text = (name: keyof Enrolment): string | null => {
      const value = element[name]
      return typeof value === 'string' ? value : null
    }
    const [programme, status] = [text('programme'), text('status')]
    // If the record has several values for one date outside of its enrolments, `readElements` returns one more element for each
    // value, with only this date. These elements are left out: nobody knows to which enrolment the date belongs.
    if (programme === null && status === null) return []
    return {
      programme,
      programme_identifier: text('programme_identifier'),
      programme_name: text('programme_name'),
      status,
      status_as_written: text('status_as_written'),
      enrolment_date: text('enrolment_date'),
      end_date: text('end_date'),
      status_change_date: text('status_change_date'),
    }
  })
}

/**
 * The enrolments that a change added or altered, in the form for `additional_attributes` of a notification (public standard 2.4).
 * @param before null: the record is new, and all its enrolments are added
 */
export function findChangedEnrolments(recordType: RecordType, before: JsonValue | null, after: JsonValue): readonly JsonObject[] {
  const known = new Set(readEnrolments(recordType, before ?? {}).map((one) => JSON.stringify(one)))
  return readEnrolments(recordType, after)
    .filter((one) => !known.has(JSON.stringify(one)))
    .map((one) => {
      const { programme_identifier, programme_name, enrolment_date, end_date, status_change_date } = one
      const members = { programme_identifier, programme_name, enrolment_date, status_change_date }
      const named = { ...members, enrolment_status: one.status_as_written, enrolment_end_date: end_date }
      return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null))
    })
}

/**
 * True when the person is enrolled at an instant: the status is Active, and the instant is between `enrolment_date` and
 * `end_date`. A date that is missing or unreadable sets no limit. Days begin and end at midnight in the time zone. A part of a
 * date, such as 2026-03, begins with its first day and ends with its last day.
 * @param now milliseconds
 */
export function isActiveAt(
  recordType: RecordType,
  { status, enrolment_date, end_date }: Enrolment,
  now: number,
  time_zone: string,
): boolean {
  if (status === null || status !== enrolmentReadingPlanOf(recordType)?.activeStatus) return false
  const begun = enrolment_date === null || (findDateBegunAndEnded(enrolment_date, now, time_zone)?.begun ?? true)
  const ended = end_date !== null && (findDateBegunAndEnded(end_date, now, time_zone)?.ended ?? false)
  return begun && !ended
}

/**
 * Finds whether a written date has begun and whether it has ended, at `now` (milliseconds). Returns null when `written` is not a
 * date. @param time_zone the registry's time zone, in which days begin
 */
export function findDateBegunAndEnded(
  written: string,
  now: number,
  time_zone: string,
): { readonly begun: boolean; readonly ended: boolean } | null {
  const instant = instantInterval(written)
  if (instant !== null && instant.from === instant.to) {
    const at = Date.parse(instant.from)
    return { begun: at <= now, ended: at <= now }
  }
  const days = dayInterval(written)
  if (days === null) return null
  const today = dayIn(time_zone, now)
  return { begun: days.from <= today, ended: days.to < today }
}
