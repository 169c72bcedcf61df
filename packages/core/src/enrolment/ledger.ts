/**
 * The ledger of a record notes when an update wrote each member of the record, so that updates in any order, and repeated
 * updates, give the same record. For each enrolment, the ledger also has all statuses with their dates; the last status that has
 * begun is the current one.
 */
import {
  canonicalJson,
  dayIn,
  dayInterval,
  instantInterval,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@rollcall/protocol'
import { type Beneficiary, benefitKey, type EnrolmentToWrite } from './beneficiary.ts'
import { type EnrolmentElement, programmeKey, putEnrolments, splitEnrolments } from './elements.ts'
import { type KindAndRecordType, makeIdentifierElementKeyReader } from './keyed-paths.ts'
import {
  elementsOfValue,
  ensureMemberRegister,
  type LastWriteRegister,
  listOrSingleElement,
  mergePatchIntoObject,
  type Stamp,
} from './registers.ts'

/** One status in the history of an enrolment. */
export interface StatusEntry {
  readonly stamp: Stamp
  readonly status: JsonValue
  /**
   * The date of the status in the update, or else the time of the update's message. For a status that came from the record: its
   * `status_change_date` in the record, or null.
   */
  readonly date: string | null
}

/** The part of a ledger about a person's enrolment in one programme. */
export interface ProgrammeLedger {
  readonly members: LastWriteRegister
  readonly benefits: LastWriteRegister
  /** The statuses, one for each start. The key is the text from `statusStartText`; '' for a status without a readable date. */
  readonly statuses: Map<string, StatusEntry>
}

/** The stamps of the writes to one record and its enrolments, and the history of each enrolment's status. */
export interface Ledger {
  readonly members: LastWriteRegister
  /** By the key of the programme (`programmeKey`), or `~` and a number for an enrolment without this key. */
  readonly programmes: Map<string, ProgrammeLedger>
}

export const emptyLedger = (): Ledger => ({ members: {}, programmes: new Map() })

/** The kind and the record type of a ledger, and the registry's time zone, in which days begin. */
export interface LedgerScope extends KindAndRecordType {
  readonly time_zone: string
}

/** The stamp and the time of an update. */
export interface UpdateOrigin {
  readonly stamp: Stamp
  /** The time of the message in ISO format. */
  readonly message_ts: string
}

/** The record after an update. */
export interface RecordAfterUpdate {
  readonly document: JsonObject
  /** True when the update replaced an existing benefit. */
  readonly replaced: boolean
}

/**
 * Merges an update into a record, and returns the new record. The ledger is changed in place.
 * @param now milliseconds, the time for which the current statuses are chosen
 */
export function mergeUpdate(
  scope: LedgerScope,
  ledger: Ledger,
  record: JsonObject,
  update: Beneficiary,
  origin: UpdateOrigin,
  now: number,
): RecordAfterUpdate {
  const taken = splitEnrolments(record)
  const write = { stamp: origin.stamp, keyOf: makeIdentifierElementKeyReader(scope) }
  const rest = mergePatchIntoObject(ledger.members, taken.rest, update.members, write)
  const known = elementsByProgramme(scope, taken.elements)
  for (const [programme, element] of known) addToStatusHistory(scope, ensureProgrammeLedger(ledger, programme), element)
  dropRemovedEnrolmentHistory(scope, ledger, known, now)
  // Two enrolments of the update may be in one programme, so each gets a later stamp than the one before: the stamp of the
  // update, and the enrolment's index in the update, in six digits.
  const stamped = update.enrolments.map((enrolment, at) => {
    return { ...enrolment, stamp: `${origin.stamp} ${String(at).padStart(6, '0')}` }
  })
  let replaced = false
  for (const [programme, enrolments] of Map.groupBy(stamped, (enrolment) => enrolment.programme)) {
    const before = known.get(programme) ?? {}
    const after = writeEnrolments(scope, ensureProgrammeLedger(ledger, programme), before, enrolments, origin.message_ts)
    replaced ||= after.replaced
    known.set(programme, after.element)
  }
  return { document: putStatusesIntoRecord(scope, ledger, rest, known, taken.alone && update.alone, now), replaced }
}

/**
 * Returns the record with the statuses that are current at a time. A status in the record that the ledger lacks is added to the
 * ledger in place, if the ledger has its programme.
 * @param now milliseconds
 */
export function recordAtTime(scope: LedgerScope, ledger: Ledger, record: JsonObject, now: number): JsonObject {
  const { rest, elements, alone } = splitEnrolments(record)
  if (elements.length === 0) return record
  const known = elementsByProgramme(scope, elements)
  for (const [programme, element] of known) {
    if (ledger.programmes.has(programme)) addToStatusHistory(scope, ensureProgrammeLedger(ledger, programme), element)
  }
  return putStatusesIntoRecord(scope, ledger, rest, known, alone, now)
}

/** The time at which the next scheduled status begins, in milliseconds; null when none is scheduled. */
export function nextStatusTime({ time_zone }: LedgerScope, { programmes }: Ledger, now: number): number | null {
  const starts = [...programmes.values()]
    .flatMap(({ statuses }) => [...statuses.keys()])
    .filter((from) => !hasStatusBegun(from, time_zone, now))
  // Only the first of the days can be the result. The other days are not converted to times, which is slow.
  const [firstDay] = starts.filter((from) => !from.includes(' ')).toSorted()
  const times = starts.filter((from) => from === firstDay || from.includes(' ')).map((from) => statusStartMs(from, time_zone))
  return times.length === 0 ? null : Math.min(...times)
}

/** The enrolments by the key of their programme. If two are in one programme, they are merged, and the first has priority. */
function elementsByProgramme(scope: KindAndRecordType, elements: readonly EnrolmentElement[]): Map<string, EnrolmentElement> {
  const known = new Map<string, EnrolmentElement>()
  for (const [at, element] of elements.entries()) {
    // An enrolment without a key gets a key with `~`, which sorts after the keys of programmes.
    const programme = programmeKey(scope, element) ?? `~${at}`
    known.set(programme, { ...element, ...known.get(programme) })
  }
  return known
}

function ensureProgrammeLedger({ programmes }: Ledger, programme: string): ProgrammeLedger {
  const found = programmes.get(programme) ?? { members: {}, benefits: {}, statuses: new Map() }
  programmes.set(programme, found)
  return found
}

const EARLIEST_WRITE_STAMP: Stamp = ''

/**
 * Adds the status in the record to the history, if the history lacks it because an import or a publication wrote it. The stamp of
 * the new entry is later than the stamps that the history has for the same day, and earlier than the stamps of later updates.
 */
function addToStatusHistory({ time_zone }: LedgerScope, { statuses }: ProgrammeLedger, element: EnrolmentElement): void {
  const { enrolment_status: status, status_change_date: written } = element
  if (status === undefined || status === null) return
  const date = typeof written === 'string' ? written : null
  const text = canonicalJson(status)
  const isShown = (entry: StatusEntry) => entry.date === date && canonicalJson(entry.status) === text
  if ([...statuses.values()].some(isShown)) return
  const from = statusStartText(date, time_zone) ?? ''
  const before = [...statuses].filter(([other]) => dayOfStatusStart(other) === dayOfStatusStart(from))
  const stamps = before.map(([, { stamp }]) => `${stamp}~`)
  statuses.set(from, { stamp: stamps.toSorted().at(-1) ?? EARLIEST_WRITE_STAMP, status, date })
}

/**
 * When an import or a correction has removed an enrolment from the record, removes the statuses of the enrolment from the
 * history. Scheduled statuses, which begin after `now`, stay.
 */
function dropRemovedEnrolmentHistory(
  { time_zone }: LedgerScope,
  { programmes }: Ledger,
  known: ReadonlyMap<string, EnrolmentElement>,
  now: number,
): void {
  for (const [programme, { statuses }] of programmes) {
    if (known.has(programme)) continue
    for (const from of statuses.keys()) if (hasStatusBegun(from, time_zone, now)) statuses.delete(from)
  }
}

/** An enrolment of an update, with a stamp of its own. */
interface EnrolmentWithWriteStamp extends EnrolmentToWrite {
  readonly stamp: Stamp
}

/**
 * Writes the enrolments of an update in one programme into the enrolment of the record. Benefits with equal keys become one
 * benefit in the result.
 */
function writeEnrolments(
  scope: LedgerScope,
  ledger: ProgrammeLedger,
  { benefits: held, ...others }: EnrolmentElement,
  enrolments: readonly EnrolmentWithWriteStamp[],
  message_ts: string,
): { readonly element: EnrolmentElement; readonly replaced: boolean } {
  const list = new Map(elementsOfValue(held).map((benefit) => [benefitKey(benefit), benefit]))
  let written: EnrolmentElement = others
  let replaced = false
  for (const { members, change, benefits, stamp } of enrolments) {
    written = mergePatchIntoObject(ledger.members, written, members, { stamp, keyOf: () => undefined })
    if (change !== null) {
      const date = change.date ?? message_ts
      const from = statusStartText(date, scope.time_zone) ?? ''
      const entry = ledger.statuses.get(from)
      if (entry === undefined || entry.stamp <= stamp) {
        ledger.statuses.set(from, { stamp, status: change.status, date })
      }
    }
    for (const [key, benefit] of benefits.elements) {
      const register = ensureMemberRegister(ledger.benefits, key)
      if (stamp < (register.value ?? EARLIEST_WRITE_STAMP)) continue
      replaced ||= list.has(key) && register.value !== stamp
      register.value = stamp
      list.set(key, benefit)
    }
  }
  const alone = !Array.isArray(held) && enrolments.every(({ benefits }) => benefits.alone)
  const all = listOrSingleElement(list, alone)
  return { element: { ...written, ...(all !== undefined && { benefits: all }) }, replaced }
}

function putStatusesIntoRecord(
  { time_zone }: LedgerScope,
  { programmes }: Ledger,
  rest: JsonObject,
  known: ReadonlyMap<string, EnrolmentElement>,
  alone: boolean,
  now: number,
): JsonObject {
  const elements = [...known].map(([programme, element]): [string, JsonValue] => {
    const statuses = programmes.get(programme)?.statuses
    return [
      programme,
      statuses === undefined ? element : putStatusIntoEnrolment(element, findCurrentStatus(statuses, time_zone, now)),
    ]
  })
  return putEnrolments(rest, listOrSingleElement(new Map(elements), alone))
}

/** Returns the enrolment with the status of the entry; without a status when the entry is undefined. */
function putStatusIntoEnrolment(
  { enrolment_status: _, status_change_date: __, ...others }: EnrolmentElement,
  entry: StatusEntry | undefined,
): EnrolmentElement {
  if (entry === undefined) return others
  const { status, date } = entry
  return { ...others, enrolment_status: status, ...(date !== null && { status_change_date: date }) }
}

/**
 * The current status: of the statuses that have begun, the one with the latest start; undefined when none has begun. If the
 * latest start has a time, and another status starts on the same day without a time, the status with the later stamp is current.
 */
function findCurrentStatus(statuses: ReadonlyMap<string, StatusEntry>, time_zone: string, now: number): StatusEntry | undefined {
  const begun = [...statuses.keys()].filter((from) => hasStatusBegun(from, time_zone, now)).toSorted()
  const last = begun.at(-1)
  if (last === undefined) return undefined
  const [latest, ofDay] = [statuses.get(last), statuses.get(dayOfStatusStart(last))]
  return latest !== undefined && ofDay !== undefined && latest.stamp < ofDay.stamp ? ofDay : latest
}

const dayOfStatusStart = (from: string): string => from.split(' ')[0] ?? ''

/**
 * The start of a status as text that sorts by time: the day in the registry's time zone, then the instant if there is
 * one. Null when the date cannot be read.
 */
function statusStartText(date: string | null, time_zone: string): string | null {
  if (date === null) return null
  const instant = instantInterval(date)
  if (instant !== null && instant.from === instant.to) {
    return `${dayIn(time_zone, Date.parse(instant.from))} ${instant.from}`
  }
  return dayInterval(date)?.from ?? null
}

function hasStatusBegun(from: string, time_zone: string, now: number): boolean {
  const space = from.indexOf(' ')
  return space < 0 ? from <= dayIn(time_zone, now) : Date.parse(from.slice(space + 1)) <= now
}

const MINUTE_MS = 60_000
const DAY_MS = 1_440 * MINUTE_MS

/**
 * Turns a start from `statusStartText` into milliseconds. For a start without a time: the beginning of the day in the time zone,
 * exact to the minute.
 */
function statusStartMs(from: string, time_zone: string): number {
  const [day = '', instant] = from.split(' ')
  if (instant !== undefined) return Date.parse(instant)
  const midnight = Date.parse(`${day}T00:00:00Z`)
  let [before, after] = [midnight - DAY_MS, midnight + DAY_MS]
  while (after - before > MINUTE_MS) {
    const middle = before + Math.floor((after - before) / MINUTE_MS / 2) * MINUTE_MS
    if (dayIn(time_zone, middle) < day) before = middle
    else after = middle
  }
  return after
}

/** Parses a stored document; one that is not an object gives {}. */
export const parseStoredDocument = (text: string): JsonObject => {
  const value: JsonValue = JSON.parse(text)
  return isJsonObject(value) ? value : {}
}
