/**
 * The enrolments of a record, in every published place and spelling (spec "Beneficiary record", public standard 2.4). They
 * are found where a search finds them: the record type's compound of enrolments says where they stand.
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

/** One enrolment of a person in one programme. Null: neither the enrolment nor the record around it says so. */
export interface Enrolment {
  /** The identifier of the programme as it is compared: without regard to case and accents. */
  readonly programme: string | null
  readonly programme_identifier: string | null
  readonly programme_name: string | null
  /** The code of the kind's list; a status that is not on the list is there in lower case. */
  readonly status: string | null
  readonly status_as_written: string | null
  /** Dates are as they are written: a day, a part of one such as 2026-03, or an instant. */
  readonly enrolment_date: string | null
  readonly end_date: string | null
  readonly status_change_date: string | null
}

const COMPOUND = 'enrolment'
/** The label of the status that means that somebody is enrolled now, in every list of statuses. */
const ACTIVE = 'Active'

const END_DATE: CompoundMember = {
  name: 'end_date',
  paths: ['enrolment_end_date', 'end_date', 'programme.enrolment_end_date', 'programme.end_date'],
  record_paths: ['member.enrolment_end_date', 'enrolment_end_date'],
  type: 'text',
}
const STATUS_CHANGE_DATE: CompoundMember = {
  name: 'status_change_date',
  paths: ['status_change_date', 'programme.status_change_date'],
  record_paths: ['member.status_change_date', 'status_change_date'],
  type: 'text',
}

interface Plan {
  readonly compound: Compound
  readonly activeStatus: string | null
}

const plans = new WeakMap<RecordType, Plan>()

/** Null: the records of this type have no enrolments in programmes. */
function planOf(recordType: RecordType): Plan | null {
  const known = plans.get(recordType)
  if (known !== undefined) return known
  const compound = recordType.compounds?.find(({ name }) => name === COMPOUND)
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
  const plan: Plan = {
    compound: {
      ...compound,
      members: [
        { ...member('programme_identifier'), name: 'programme' },
        asWritten('programme_identifier'),
        asWritten('programme_name'),
        { ...status, name: 'status' },
        asWritten('enrolment_status', 'status_as_written'),
        asWritten('enrolment_date'),
        END_DATE,
        STATUS_CHANGE_DATE,
      ],
    },
    activeStatus: status.codes === undefined ? ACTIVE : normaliseCode(status.codes, ACTIVE),
  }
  plans.set(recordType, plan)
  return plan
}

/** In the order of the document; each names a programme or has a status. Never throws; none where the record type has no enrolments. */
export function readEnrolments(recordType: RecordType, document: JsonValue): readonly Enrolment[] {
  const plan = planOf(recordType)
  if (plan === null) return []
  return readElements(plan.compound, document).flatMap((element) => {
    const text = (name: keyof Enrolment): string | null => {
      const value = element[name]
      return typeof value === 'string' ? value : null
    }
    const [programme, status] = [text('programme'), text('status')]
    // What the record says several times beside its enrolments belongs to none of them in particular.
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
 * The enrolments that a change has made or altered, as they are told in `additional_attributes` of a notification (public
 * standard 2.4). @param before null: the record is new, and all of them are
 */
export function changedEnrolments(
  recordType: RecordType,
  before: JsonValue | null,
  after: JsonValue,
): readonly JsonObject[] {
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
 * Whether somebody is enrolled at an instant: the status is Active, and the dates of the enrolment include the instant. A
 * date that is missing, or is none, does not bound it. A day begins and ends at midnight in the time zone; of a part of a
 * date, such as 2026-03, every day may be the one.
 * @param now milliseconds
 */
export function isActiveAt(
  recordType: RecordType,
  { status, enrolment_date, end_date }: Enrolment,
  now: number,
  time_zone: string,
): boolean {
  if (status === null || status !== planOf(recordType)?.activeStatus) return false
  const begun = enrolment_date === null || (timesOf(enrolment_date, now, time_zone)?.begun ?? true)
  const ended = end_date !== null && (timesOf(end_date, now, time_zone)?.ended ?? false)
  return begun && !ended
}

/** Whether what is written as a date has begun, and whether it is over; null: it is no date. */
export function timesOf(
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
