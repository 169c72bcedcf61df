/** Derives events from the change of a record, by the rules of its record type. */
import {
  type AttributeValue,
  dayIn,
  type Element,
  type EventCondition,
  type EventRule,
  type JsonValue,
  type Kind,
  keysInList,
  type RecordType,
  type RuleList,
  resolveRecordType,
} from '@rollcall/protocol'
import type { Identifier } from '../model/records.ts'
import { lazyRecordValues, type RecordValues, readRecordValues, type SearchableValues } from '../query/memory/extract-record.ts'

/** A record before or after a change. Its values are read when they are used. */
export class RecordState {
  readonly document: JsonValue
  readonly #kind: Kind
  readonly #recordType: RecordType
  readonly #aliases: readonly Identifier[]
  readonly #read: SearchableValues
  #extracted: RecordValues | undefined

  /** @param aliases identifiers of records that were merged into this record */
  constructor(kind: Kind, recordType: RecordType, document: JsonValue, aliases: readonly Identifier[] = []) {
    this.#aliases = aliases
    this.#kind = kind
    this.#recordType = recordType
    this.document = document
    this.#read = lazyRecordValues(kind, recordType, document, aliases)
  }

  /** All values that a filter can use. This takes longer than reading a few attributes for the rules. */
  get extracted(): RecordValues {
    this.#extracted ??= readRecordValues(this.#kind, this.#recordType, this.document, this.#aliases)
    return this.#extracted
  }

  value(name: string): AttributeValue | undefined {
    return this.#read.values.get(name)
  }

  elements(name: string): readonly Element[] {
    return this.#read.elements.get(name) ?? []
  }
}

/** A record before and after a change, as rules of events read it; null where there was no record. */
export interface StatesBeforeAndAfter {
  readonly before: RecordState | null
  readonly after: RecordState | null
}

/** An event that a change of a record makes. */
export interface DerivedEvent {
  readonly event_type: string
  /** Present when the event corrects earlier published events of the same type about the same record. */
  readonly correction_type?: 'CANCEL' | 'CORRECTION'
  /** Further records that the event is about, such as the members who were added to a group. */
  readonly also_of?: PrimaryIdentifiersOfType
}

/** Records of one type, by their primary identifiers. */
export interface PrimaryIdentifiersOfType {
  readonly record_type: string
  /** The normalised primary identifiers. */
  readonly identifiers: readonly string[]
}

/** The facts, besides the change, from which events are derived. */
export interface EventDerivationFacts {
  readonly kind: Kind
  readonly recordType: RecordType
  readonly time_zone: string
  /** The time of the change, for `recent` conditions. */
  readonly now: Date
  /** The most days from a birth to its registration, for `recent` conditions. */
  readonly birth_span: number
}

const DAY_MS = 86_400_000

/** The events of a change, in the order of the rules. Do not call the function for a change that changes nothing. */
export function deriveEvents(derivation: EventDerivationFacts, change: StatesBeforeAndAfter): readonly DerivedEvent[] {
  const on = change.before === null ? 'new' : change.after === null ? 'deleted' : 'changed'
  const events: DerivedEvent[] = []
  let hasEvent = false
  for (const rule of derivation.recordType.event_rules) {
    if (rule.on !== on || (rule.otherwise && hasEvent)) continue
    if (!areRuleConditionsTrue(derivation, rule, change)) continue
    events.push({
      event_type: rule.event,
      ...(rule.corrects && { correction_type: rule.corrects }),
      ...(rule.also_of && { also_of: addedPrimaryIdentifiers(derivation, rule.also_of, change) }),
    })
    hasEvent ||= rule.corrects === undefined
  }
  return events
}

/** True when all conditions (`if`) of a rule hold; its `on` (new, changed or deleted) is not checked. */
export function areRuleConditionsTrue(derivation: EventDerivationFacts, rule: EventRule, change: StatesBeforeAndAfter): boolean {
  return (rule.if ?? []).every((condition) => isConditionTrue(derivation, condition, change))
}

function isConditionTrue(
  derivation: EventDerivationFacts,
  condition: EventCondition,
  { before, after }: StatesBeforeAndAfter,
): boolean {
  const was = (name: string) => before?.value(name)
  const is = (name: string) => after?.value(name)
  switch (condition.is) {
    case 'has':
      return is(condition.attribute) !== undefined
    case 'set':
      return was(condition.attribute) === undefined && is(condition.attribute) !== undefined
    case 'cleared':
      return was(condition.attribute) !== undefined && is(condition.attribute) === undefined
    case 'changed': {
      const [old, now] = [was(condition.attribute), is(condition.attribute)]
      return old !== undefined && now !== undefined && valueJsonText(old) !== valueJsonText(now)
    }
    case 'added':
      return addedElementKeys(derivation, condition.list, { before, after }).length > 0
    case 'member_changed': {
      const old = elementMemberTextsByKey(condition, before)
      return [...elementMemberTextsByKey(condition, after)].some(([key, value]) => old.has(key) && old.get(key) !== value)
    }
    case 'recent':
      return isRecentDate(derivation, is(condition.attribute), is(condition.until))
  }
}

const valueJsonText = (value: AttributeValue): string => JSON.stringify(value)

/** The elements that a change added to a list: for each element, the keys that identify it in the list. */
function addedElementKeys(
  derivation: EventDerivationFacts,
  list: RuleList,
  { before, after }: StatesBeforeAndAfter,
): readonly (readonly string[])[] {
  const known = new Set(listElementKeys(derivation, list, before).flat())
  return listElementKeys(derivation, list, after).filter((keys) => keys.length > 0 && !keys.some((key) => known.has(key)))
}

/** The records whose primary identifiers are in the elements that the change added to a list. */
function addedPrimaryIdentifiers(
  derivation: EventDerivationFacts,
  { record_type, list }: NonNullable<EventRule['also_of']>,
  change: StatesBeforeAndAfter,
): PrimaryIdentifiersOfType {
  const primary = resolveRecordType(derivation.kind, record_type)?.primary_identifier
  const identifiers = addedElementKeys(derivation, list, change).flatMap((keys) =>
    keys.flatMap((key) => {
      const [type, , value] = JSON.parse(key) as readonly string[]
      return type === primary && value !== undefined ? [value] : []
    }),
  )
  return { record_type, identifiers: [...new Set(identifiers)] }
}

/** Returns the keys of each element of a list in the record; empty when there is no record. */
function listElementKeys(
  { kind, recordType }: EventDerivationFacts,
  list: RuleList,
  state: RecordState | null,
): readonly (readonly string[])[] {
  if (state === null) return []
  if ('keyed_list' in list) {
    const keyed = recordType.keyed_lists.find(({ name }) => name === list.keyed_list)
    return keyed === undefined ? [] : keysInList(kind, recordType, keyed, state.document)
  }
  if ('attribute' in list) {
    const value = state.value(list.attribute)
    return (Array.isArray(value) ? value : []).map((one) => [valueJsonText(one)])
  }
  return state.elements(list.compound).flatMap(({ [list.by]: key }) => (key === undefined ? [] : [[valueJsonText(key)]]))
}

type MemberChangedCondition = Extract<EventCondition, { is: 'member_changed' }>

/**
 * Returns a map with an entry for each element of a compound. In the condition, `by` is the name of the element's member for the
 * key, and `member` the name of the one for the value. Both are JSON text; '' when the element lacks the member. Of elements with
 * equal keys, the map has the last.
 */
function elementMemberTextsByKey(
  { compound, by, member }: MemberChangedCondition,
  state: RecordState | null,
): ReadonlyMap<string, string> {
  const said = new Map<string, string>()
  for (const { [by]: key, [member]: value } of state?.elements(compound) ?? []) {
    said.set(key === undefined ? '' : valueJsonText(key), value === undefined ? '' : valueJsonText(value))
  }
  return said
}

/**
 * True when a date is the date `until`, or at most `birth_span` days before `until`. If `until` is missing, the day of the change
 * is used. A part of a date, such as 2026-03, counts as its first day.
 */
function isRecentDate(
  { time_zone, now, birth_span }: EventDerivationFacts,
  date: AttributeValue | undefined,
  until: AttributeValue | undefined,
): boolean {
  if (typeof date !== 'object' || !('from' in date)) return false
  const end = findFirstDayOfDate(until, time_zone) ?? dayIn(time_zone, now.getTime())
  const beginning = new Date(Date.parse(end) - birth_span * DAY_MS).toISOString().slice(0, 10)
  return date.from >= beginning && date.from <= end
}

function findFirstDayOfDate(value: AttributeValue | undefined, time_zone: string): string | null {
  if (typeof value === 'string') return dayIn(time_zone, Date.parse(value))
  return typeof value === 'object' && 'from' in value ? value.from : null
}
