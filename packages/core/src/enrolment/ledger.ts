/**
 * What was written of a person, and when: beside the record stands a ledger, by which any order and any repetition of
 * updates ends in the same record. Statuses of an enrolment are a history, of which the latest that has begun counts.
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
import { type Beneficiary, benefitKey, type EnrolmentUpdate } from './beneficiary.ts'
import { type EnrolmentElement, programmeKey, putEnrolments, type RecordScope, takeEnrolments } from './elements.ts'
import { identifierKeyOf } from './keyed-paths.ts'
import { asList, elementsOf, type Register, registerOf, type Stamp, writeObject } from './registers.ts'

export interface StatusEntry {
  readonly stamp: Stamp
  readonly status: JsonValue
  /** As it is written. */
  readonly date: string | null
}

export interface ProgrammeLedger {
  readonly members: Register
  readonly benefits: Register
  /** By the day or the instant from which each counts; '' for one that has always counted. */
  readonly statuses: Map<string, StatusEntry>
}

export interface Ledger {
  readonly members: Register
  /** By what the programme is known. */
  readonly programmes: Map<string, ProgrammeLedger>
}

export const emptyLedger = (): Ledger => ({ members: {}, programmes: new Map() })

export interface LedgerScope extends RecordScope {
  readonly time_zone: string
}

/** When and where something was written. */
export interface Origin {
  readonly stamp: Stamp
  /** ISO: of the message. */
  readonly message_ts: string
}

export interface Merged {
  readonly document: JsonObject
  /** Whether an earlier benefit was replaced. */
  readonly replaced: boolean
}

/**
 * The record with an update written into it; the ledger is changed, the record is not.
 * @param now milliseconds: by which the current statuses are chosen
 */
export function writeUpdate(
  scope: LedgerScope,
  ledger: Ledger,
  record: JsonObject,
  update: Beneficiary,
  origin: Origin,
  now: number,
): Merged {
  const taken = takeEnrolments(record)
  const write = { stamp: origin.stamp, keyOf: identifierKeyOf(scope) }
  const rest = writeObject(ledger.members, taken.rest, update.members, write)
  const known = elementsByProgramme(scope, taken.elements)
  for (const [programme, element] of known) explainStatus(scope, ledgerOf(ledger, programme), element)
  dropTakenOut(scope, ledger, known, now)
  let replaced = false
  for (const [at, enrolment] of update.enrolments.entries()) {
    const { programme } = enrolment
    const before = known.get(programme) ?? {}
    // Of two enrolments in one programme the second is the later one.
    const own = { ...origin, stamp: `${origin.stamp} ${String(at).padStart(6, '0')}` }
    const after = writeEnrolment(scope, ledgerOf(ledger, programme), before, enrolment, own)
    replaced ||= after.replaced
    known.set(programme, after.element)
  }
  return { document: shown(scope, ledger, rest, known, taken.alone && update.alone, now), replaced }
}

/**
 * The record as it is now: scheduled statuses that have begun are current.
 * @param now milliseconds
 */
export function documentAt(scope: LedgerScope, ledger: Ledger, record: JsonObject, now: number): JsonObject {
  const { rest, elements, alone } = takeEnrolments(record)
  if (elements.length === 0) return record
  const known = elementsByProgramme(scope, elements)
  for (const [programme, element] of known) {
    if (ledger.programmes.has(programme)) explainStatus(scope, ledgerOf(ledger, programme), element)
  }
  return shown(scope, ledger, rest, known, alone, now)
}

/** When the next scheduled status begins, in milliseconds; null: none is scheduled. */
export function nextDue({ time_zone }: LedgerScope, { programmes }: Ledger, now: number): number | null {
  const times = [...programmes.values()]
    .flatMap(({ statuses }) => [...statuses.keys()])
    .filter((from) => !hasBegun(from, time_zone, now))
    .map((from) => beginning(from, time_zone))
  return times.length === 0 ? null : Math.min(...times)
}

/** Of two enrolments in one programme the first has what both say. */
function elementsByProgramme(scope: RecordScope, elements: readonly EnrolmentElement[]): Map<string, EnrolmentElement> {
  const known = new Map<string, EnrolmentElement>()
  for (const [at, element] of elements.entries()) {
    // Behind all that name their programme.
    const programme = programmeKey(scope, element) ?? `~${at}`
    known.set(programme, { ...element, ...known.get(programme) })
  }
  return known
}

function ledgerOf({ programmes }: Ledger, programme: string): ProgrammeLedger {
  const found = programmes.get(programme) ?? { members: {}, benefits: {}, statuses: new Map() }
  programmes.set(programme, found)
  return found
}

/** Before every stamp. */
const NEVER: Stamp = ''

/**
 * A status that came with an import, or was published, is an entry of its own date: it is later than what was written for
 * that day before, and earlier than what is written after it.
 */
function explainStatus({ time_zone }: LedgerScope, { statuses }: ProgrammeLedger, element: EnrolmentElement): void {
  const { enrolment_status: status, status_change_date: written } = element
  if (status === undefined || status === null) return
  const date = typeof written === 'string' ? written : null
  const text = canonicalJson(status)
  const isShown = (entry: StatusEntry) => entry.date === date && canonicalJson(entry.status) === text
  if ([...statuses.values()].some(isShown)) return
  const from = countsFrom(date, time_zone) ?? ''
  const before = [...statuses].filter(([other]) => dayFrom(other) === dayFrom(from))
  const stamps = before.map(([, { stamp }]) => `${stamp}~`)
  statuses.set(from, { stamp: stamps.toSorted().at(-1) ?? NEVER, status, date })
}

/** The history of an enrolment that an import or a correction took out of the record; scheduled statuses stay. */
function dropTakenOut(
  { time_zone }: LedgerScope,
  { programmes }: Ledger,
  known: ReadonlyMap<string, EnrolmentElement>,
  now: number,
): void {
  for (const [programme, { statuses }] of programmes) {
    if (known.has(programme)) continue
    for (const from of statuses.keys()) if (hasBegun(from, time_zone, now)) statuses.delete(from)
  }
}

function writeEnrolment(
  scope: LedgerScope,
  ledger: ProgrammeLedger,
  before: EnrolmentElement,
  { members, change, benefits }: EnrolmentUpdate,
  { stamp, message_ts }: Origin,
): { readonly element: EnrolmentElement; readonly replaced: boolean } {
  const { benefits: held, ...others } = before
  const written = writeObject(ledger.members, others, members, { stamp, keyOf: () => undefined })
  if (change !== null) {
    const date = change.date ?? message_ts
    const from = countsFrom(date, scope.time_zone) ?? ''
    const entry = ledger.statuses.get(from)
    if (entry === undefined || entry.stamp <= stamp) {
      ledger.statuses.set(from, { stamp, status: change.status, date })
    }
  }
  const list = new Map(elementsOf(held).map((benefit) => [benefitKey(benefit), benefit]))
  let replaced = false
  for (const [key, benefit] of benefits.elements) {
    const register = registerOf(ledger.benefits, key)
    if (stamp < (register.value ?? NEVER)) continue
    replaced ||= list.has(key) && register.value !== stamp
    register.value = stamp
    list.set(key, benefit)
  }
  const alone = !Array.isArray(held) && benefits.alone
  const all = asList(list, alone)
  return { element: { ...written, ...(all !== undefined && { benefits: all }) }, replaced }
}

function shown(
  { time_zone }: LedgerScope,
  { programmes }: Ledger,
  rest: JsonObject,
  known: ReadonlyMap<string, EnrolmentElement>,
  alone: boolean,
  now: number,
): JsonObject {
  const elements = [...known].map(([programme, element]): [string, JsonValue] => {
    const statuses = programmes.get(programme)?.statuses
    return [programme, statuses === undefined ? element : withStatus(element, current(statuses, time_zone, now))]
  })
  return putEnrolments(rest, asList(new Map(elements), alone))
}

function withStatus(
  { enrolment_status: _, status_change_date: __, ...others }: EnrolmentElement,
  entry: StatusEntry | undefined,
): EnrolmentElement {
  if (entry === undefined) return others
  const { status, date } = entry
  return { ...others, enrolment_status: status, ...(date !== null && { status_change_date: date }) }
}

/**
 * The entry with the latest date that is not in the future. Of one day, an entry without a time of day and the latest one
 * with a time have equal dates: the later write counts.
 */
function current(statuses: ReadonlyMap<string, StatusEntry>, time_zone: string, now: number): StatusEntry | undefined {
  const begun = [...statuses.keys()].filter((from) => hasBegun(from, time_zone, now)).toSorted()
  const last = begun.at(-1)
  if (last === undefined) return undefined
  const [latest, ofDay] = [statuses.get(last), statuses.get(dayFrom(last))]
  return latest !== undefined && ofDay !== undefined && latest.stamp < ofDay.stamp ? ofDay : latest
}

const dayFrom = (from: string): string => from.split(' ')[0] ?? ''

/**
 * From when a date counts, as a text by which dates compare: the day where it is registered, and for an instant the instant
 * behind it. Null: it is no date.
 */
function countsFrom(date: string | null, time_zone: string): string | null {
  if (date === null) return null
  const instant = instantInterval(date)
  if (instant !== null && instant.from === instant.to) {
    return `${dayOf(time_zone, Date.parse(instant.from))} ${instant.from}`
  }
  return dayInterval(date)?.from ?? null
}

function hasBegun(from: string, time_zone: string, now: number): boolean {
  const [day = '', instant] = from.split(' ')
  return instant === undefined ? day <= dayOf(time_zone, now) : Date.parse(instant) <= now
}

/** Of the instants that were asked for last: one update asks for the same ones many times. */
const days = new Map<string, string>()

function dayOf(time_zone: string, instant: number): string {
  const key = `${instant} ${time_zone}`
  const day = days.get(key) ?? dayIn(time_zone, instant)
  if (days.size >= DAYS) days.clear()
  days.set(key, day)
  return day
}

const DAYS = 1_000

const MINUTE = 60_000
const DAY = 1_440 * MINUTE

/** Milliseconds. Of a day: the minute in which it begins in the time zone. */
function beginning(from: string, time_zone: string): number {
  const [day = '', instant] = from.split(' ')
  if (instant !== undefined) return Date.parse(instant)
  const midnight = Date.parse(`${day}T00:00:00Z`)
  let [before, after] = [midnight - DAY, midnight + DAY]
  while (after - before > MINUTE) {
    const middle = before + Math.floor((after - before) / MINUTE / 2) * MINUTE
    if (dayIn(time_zone, middle) < day) before = middle
    else after = middle
  }
  return after
}

/** For documents that are read from the store. */
export const objectOf = (text: string): JsonObject => {
  const value: JsonValue = JSON.parse(text)
  return isJsonObject(value) ? value : {}
}
