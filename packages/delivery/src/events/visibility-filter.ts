/** Leaves out subscribers who may not see the record of an event, or see only parts of the record that do not show the event. */

import {
  areRuleConditionsTrue,
  deriveEvents,
  type EventDerivationFacts,
  RecordState,
  type StatesBeforeAndAfter,
} from '@rollcall/core/events/derive'
import { type Protection, protectedPersonsOwningRecord, protectionKey } from '@rollcall/core/model/protection'
import { hiddenPersonRemovalRule } from '@rollcall/core/policy/hidden'
import {
  canonicalJson,
  dayIn,
  type EventRule,
  isJsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  type Relation,
  type TakesOut,
  withoutPersons,
} from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { PERSON_HIDING_WITHOUT_RIGHTS, type PersonHidingRules, readPersonHidingRules } from '../store/events/subscriber-hiding.ts'
import type { DraftEvent, RecordingDeps } from './recording.ts'

/** Keeps those elements whose subscriber may learn of the element's event. */
export type EventVisibilityFilter = <One extends { readonly subscription: number }>(
  all: readonly One[],
  eventOf: (one: One) => DraftEvent | undefined,
) => Promise<readonly One[]>

interface EventVisibilityContext {
  readonly recording: RecordingDeps
  readonly protection: Protection
  /**
   * True when the rules of the record type have derived the events. Then a subscriber is notified only if the rules
   * derive the same event from the part of the record that the subscriber may see.
   */
  readonly derived: boolean
}

/** Makes the filter that keeps notifications only for subscribers who may see the change behind an event. */
export async function createEventVisibilityFilter(
  client: ClientBase,
  checked: EventVisibilityContext,
  drafts: readonly DraftEvent[],
): Promise<EventVisibilityFilter> {
  const { kind } = checked.recording.registry
  const marks = new Map(drafts.map((draft) => [draft, protectionCategoriesOf(kind, checked.protection, draft)]))
  const known = new Map<string, boolean>()
  const seesChange = (draft: DraftEvent, hiding: PersonHidingRules): boolean => {
    const key = `${draft.id} ${hiding.hidesMinors} ${hiding.shownCategories.join()}`
    const told = known.get(key) ?? isChangeSeenBySubscriber(checked, draft, hiding)
    known.set(key, told)
    return told
  }
  return async (all, eventOf) => {
    const about = all.flatMap((one) => {
      const draft = eventOf(one)
      return draft === undefined ? [] : [{ one, draft, categories: marks.get(draft) ?? [] }]
    })
    // Grants are read only for changes in records of protected persons, and for changes that the strictest rules hide.
    const possiblyHidden = about.filter(
      (row) => row.categories.length > 0 || !STRICTEST_PERSON_HIDING_RULES.every((hiding) => seesChange(row.draft, hiding)),
    )
    if (possiblyHidden.length === 0) return all
    const hides = await readPersonHidingRules(
      client,
      possiblyHidden.map(({ one }) => one.subscription),
    )
    const refused = possiblyHidden.filter(({ one, draft, categories: personCategories }) => {
      const hiding = hides(one.subscription)
      return !personCategories.every((category) => hiding.shownCategories.includes(category)) || !seesChange(draft, hiding)
    })
    const leftOut = new Set(refused.map(({ one }) => one))
    return all.filter((one) => !leftOut.has(one))
  }
}

/**
 * The categories of protection of the changed record's person, by the record's identifiers and those of records that
 * were merged into it.
 */
function protectionCategoriesOf(kind: Kind, protection: Protection, { recordType, change }: DraftEvent): readonly string[] {
  if (protection.byProtectingIdentifier.size === 0) return []
  const documents = [change.before, change.after, change.unwritten ?? null].map(parseNullableJson)
  return [
    ...documents.flatMap((document) => protectedPersonsOwningRecord(kind, recordType, protection, document)),
    ...(change.aliases ?? []).flatMap((alias) => protection.byProtectingIdentifier.get(protectionKey(alias)) ?? []),
  ].map(({ category }) => category)
}

/**
 * Rules that hide all protected persons: the first also hides minors (persons under age), the second does not. A change that both
 * rules show is shown to every subscriber. Both are needed: when a person comes of age, the person is new only to subscribers
 * that see no minors.
 */
const STRICTEST_PERSON_HIDING_RULES: readonly PersonHidingRules[] = [
  PERSON_HIDING_WITHOUT_RIGHTS,
  { ...PERSON_HIDING_WITHOUT_RIGHTS, hidesMinors: false },
]

type DocumentsOfChange = readonly [before: JsonValue | null, after: JsonValue | null]

/** True when a subscriber to whom `hiding` applies sees the change of the draft, and sees it as the same event. */
function isChangeSeenBySubscriber(checked: EventVisibilityContext, draft: DraftEvent, hiding: PersonHidingRules): boolean {
  const { recording, protection, derived } = checked
  const { kind, time_zone } = recording.registry
  const { recordType, change } = draft
  const after = change.unwritten ?? change.after
  const rules = derived ? [] : rulesAboutPersons(draft)
  if (change.before === after && rules.length === 0) return true
  const day = dayIn(time_zone, recording.now.getTime())
  const takesOut = hiddenPersonRemovalRule(kind, recording.registry, protection, hiding, day)
  if (takesOut === null) return true
  const withoutHidden = (document: JsonValue | null): JsonValue | null =>
    isJsonObject(document) ? withoutPersons(kind, recordType, document, takesOut) : document
  // Rules derived an event from the documents of the draft, which lack the protected persons whom the record names: it is checked
  // with these documents. A published event is checked with the full documents.
  const documents: DocumentsOfChange = derived
    ? [draft.before?.document ?? null, draft.after?.document ?? null]
    : [parseNullableJson(change.before), parseNullableJson(after)]
  const seen: DocumentsOfChange = [withoutHidden(documents[0]), withoutHidden(documents[1])]
  if (seen[0] === documents[0] && seen[1] === documents[1]) return true
  if (isOnlyHiddenChange(documents, seen)) return false
  if (derived) return isDerivedFrom(recording, draft, seen)
  const isCut = ({ persons }: EventRule): boolean =>
    documents.some((document) => hasHiddenRelatedPerson(kind, recordType, document, takesOut, persons))
  if (!rules.some(isCut)) return true
  const [derivation, seenChange] = makeDeriveEventsArguments(recording, draft, seen)
  return rules.some((rule) => areRuleConditionsTrue(derivation, rule, seenChange))
}

/**
 * The rules of a published event that have `persons`: they are about persons whom the record names, such as members of a
 * household. The other rules are not checked, because published events need not fit them: a birth may be published years late.
 */
const rulesAboutPersons = ({ recordType, event }: DraftEvent): readonly EventRule[] =>
  recordType.event_rules.filter(
    (rule) => rule.persons !== undefined && rule.event === event.event_type && rule.corrects === event.correction_type,
  )

/** True when the rules of the record type derive the event of a draft from a change. */
function isDerivedFrom(recording: RecordingDeps, draft: DraftEvent, documents: DocumentsOfChange): boolean {
  return deriveEvents(...makeDeriveEventsArguments(recording, draft, documents)).some(
    ({ event_type, correction_type }) => event_type === draft.event.event_type && correction_type === draft.event.correction_type,
  )
}

/** Makes the arguments of `deriveEvents`: its facts, and the record before and after the change. */
function makeDeriveEventsArguments(
  { registry: { kind, time_zone }, now, limits: { birth_span } }: RecordingDeps,
  { recordType }: DraftEvent,
  [before, after]: DocumentsOfChange,
): readonly [EventDerivationFacts, StatesBeforeAndAfter] {
  const state = (document: JsonValue | null): RecordState | null =>
    document === null ? null : new RecordState(kind, recordType, document)
  return [
    { kind, recordType, time_zone, now, birth_span },
    { before: state(before), after: state(after) },
  ]
}

/**
 * True when hiding removes from the document a person whose relation (`RecordType.relations`) is `relation`, or has the same
 * `counted_by` as `relation`: the head of a household counts as a member. A person without a described relation counts too.
 */
function hasHiddenRelatedPerson(
  kind: Kind,
  recordType: RecordType,
  document: JsonValue | null,
  takesOut: TakesOut,
  relation: string | undefined,
): boolean {
  let found = false
  if (!isJsonObject(document)) return false
  const counted_by = recordType.relations?.find(({ name }) => name === relation)?.counted_by
  const isOfList = ({ name, counted_by: count }: Relation): boolean =>
    name === relation || (count !== undefined && count === counted_by)
  withoutPersons(kind, recordType, document, (person) => {
    const key = takesOut(person)
    found ||= key !== null && (person.relation === null || isOfList(person.relation))
    return key
  })
  return found
}

/** True when only the data of hidden persons have changed. @param seen the documents without these data */
export const isOnlyHiddenChange = (whole: DocumentsOfChange, seen: DocumentsOfChange): boolean =>
  comparableTextOf(seen[0]) === comparableTextOf(seen[1]) && comparableTextOf(whole[0]) !== comparableTextOf(whole[1])

/** A document as text, without null and empty values: a list that has only hidden persons equals no list. */
const comparableTextOf = (document: JsonValue | null): string =>
  document === null ? '' : canonicalJson(withoutEmptyValues(document) ?? {})

/** Removes null, empty lists and empty objects from a value; undefined when nothing is left of it. */
function withoutEmptyValues(value: JsonValue): JsonValue | undefined {
  if (value === null) return undefined
  if (Array.isArray(value)) {
    const left = value.flatMap((element) => withoutEmptyValues(element) ?? [])
    return left.length === 0 ? undefined : left
  }
  if (!isJsonObject(value)) return value
  const left = Object.entries(value).flatMap(([name, inner]): [string, JsonValue][] => {
    const kept = withoutEmptyValues(inner)
    return kept === undefined ? [] : [[name, kept]]
  })
  return left.length === 0 ? undefined : Object.fromEntries(left)
}

/** Parses JSON text; null for null. */
export const parseNullableJson = (text: string | null): JsonValue => (text === null ? null : JSON.parse(text))
