/**
 * Finds the subscriptions that match a change of records. Filters and records have keys, made from values (`events/filing.ts` of
 * core). A subscription whose filter has a key of the changed record is a candidate. If the keys do not show whether the record
 * fulfils the filter, the filter is evaluated on the record before and after the change. So the cost grows with the candidates,
 * not with all subscriptions.
 */

import { createLruCache } from '@rollcall/base/shared/recently-used'
import { keysOfChange } from '@rollcall/core/events/filing'
import type { FilterTransition } from '@rollcall/core/model/event'
import type { Predicate } from '@rollcall/core/model/predicate'
import type { Registry } from '@rollcall/core/model/registry'
import type { RecordValues } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import { replaceAgesByDates } from '@rollcall/core/query/resolve-ages'
import type { Kind, RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import {
  findCandidates,
  findSubscribedTypes,
  type MatchKeyOfChangedRecord,
  type RecordAndFilterKeyMatch,
  type SubscriptionCandidate,
} from '../store/events/candidates.ts'
import { readCriteriaTexts } from '../store/events/find-subscriptions.ts'

/** An event for which matching subscriptions are looked for. */
export interface EventToMatch {
  readonly event_type: string
  readonly recordType: RecordType
  /** The record before and after the change; null where there was none. */
  readonly before: RecordValues | null
  readonly after: RecordValues | null
}

/** One event and one subscription that the event matches. */
export interface SubscriptionMatch {
  /** The index of the event in the given list of events. */
  readonly at: number
  readonly subscription: number
  readonly presence: FilterTransition
}

/** One page of the matches of some events. */
export interface SubscriptionMatchPage {
  readonly matches: readonly SubscriptionMatch[]
  /**
   * The ids of subscriptions whose filter cannot be read now, such as after an attribute was removed. `matches` has no match of
   * these subscriptions.
   */
  readonly unreadable: readonly number[]
}

/** Reads the filter of a stored subscription. Throws when it cannot be read. */
export type ReadStoredFilter = (kind: Kind, criteria: string) => { readonly predicate: Predicate | null }

/** The most filters of subscriptions that a node remembers. */
const MOST_COMPILED_FILTERS = 100_000

/** From this number of events on, a query first finds out to which of their types somebody has subscribed. */
const LEAST_EVENTS_FOR_TYPE_QUERY = 10

interface CompiledFilter {
  /** The kind of the registry when the filter was read. If the registry has another kind now, the filter is read again. */
  readonly kind: Kind
  /** The condition of the filter; null when there is no filter; undefined when the filter cannot be read. */
  readonly predicate: Predicate | null | undefined
}

/** The registry, the day and the filters with which events are matched. */
export interface MatchContext {
  readonly registry: Registry
  /** The day as YYYY-MM-DD in the time zone of the registry, by which ages are computed. */
  readonly day: string
  readonly compiled: CompiledFilterCache
}

/** A cache of the filters of subscriptions, which reads the missing ones. The filter of a subscription never changes. */
export class CompiledFilterCache {
  readonly #compile: ReadStoredFilter
  readonly #filters = createLruCache<number, CompiledFilter>(MOST_COMPILED_FILTERS)

  constructor(compile: ReadStoredFilter) {
    this.#compile = compile
  }

  /** The filter of each subscription: null when it has none, undefined when the filter cannot be read. */
  async of(
    client: ClientBase,
    kind: Kind,
    subscriptions: readonly number[],
  ): Promise<ReadonlyMap<number, Predicate | null | undefined>> {
    const found = new Map<number, Predicate | null | undefined>()
    const missing: number[] = []
    for (const id of subscriptions) {
      const known = this.#filters.get(id)
      if (known?.kind === kind) found.set(id, known.predicate)
      else missing.push(id)
    }
    if (missing.length === 0) return found
    for (const [id, criteria] of await readCriteriaTexts(client, missing)) {
      const predicate = this.#read(kind, criteria)
      this.#filters.set(id, { kind, predicate })
      found.set(id, predicate)
    }
    return found
  }

  #read(kind: Kind, criteria: string): Predicate | null | undefined {
    try {
      return this.#compile(kind, criteria).predicate
    } catch {
      return undefined
    }
  }
}

/** Yields all matches of the events in pages, in the order of the events. It runs in the caller's transaction. */
export async function* matchEvents(
  client: ClientBase,
  matching: MatchContext,
  events: readonly EventToMatch[],
): AsyncGenerator<SubscriptionMatchPage> {
  const probes = await collectKeysToMatchFilters(client, matching.registry.id, events)
  for await (const candidates of findCandidates(client, matching.registry.id, probes)) {
    yield await selectMatchingCandidates(client, matching, events, candidates)
  }
}

async function collectKeysToMatchFilters(
  client: ClientBase,
  registryId: number,
  events: readonly EventToMatch[],
): Promise<readonly MatchKeyOfChangedRecord[]> {
  const subscribed =
    events.length < LEAST_EVENTS_FOR_TYPE_QUERY ? null : await findSubscribedTypePairs(client, registryId, events)
  return events.flatMap((event, at) => {
    const { event_type, recordType } = event
    if (subscribed?.has(`${event_type}\0${recordType.name}`) === false) return []
    return keysOfChange(event.before, event.after).map((key) => ({ at, event_type, record_type: recordType.name, ...key }))
  })
}

/** Returns those pairs of event type and record type, among the given events, to which somebody has subscribed. */
async function findSubscribedTypePairs(
  client: ClientBase,
  registryId: number,
  events: readonly EventToMatch[],
): Promise<ReadonlySet<string>> {
  const pairs = new Map(
    events.map(({ event_type, recordType: { name } }) => [`${event_type}\0${name}`, { event_type, record_type: name }]),
  )
  const found = await findSubscribedTypes(client, registryId, [...pairs.values()])
  return new Set(found.map(({ event_type, record_type }) => `${event_type}\0${record_type}`))
}

/** Finds the matches: the candidates whose filter the record fulfils before or after the change. */
async function selectMatchingCandidates(
  client: ClientBase,
  { registry, day, compiled }: MatchContext,
  events: readonly EventToMatch[],
  candidates: readonly SubscriptionCandidate[],
): Promise<SubscriptionMatchPage> {
  const open = candidates.filter(({ before, after }) => !isFilterDecidedByKeys(before) || !isFilterDecidedByKeys(after))
  const filters = await compiled.of(
    client,
    registry.kind,
    open.map(({ subscription }) => subscription),
  )
  const found: SubscriptionMatch[] = []
  const unreadable = new Set<number>()
  for (const { at, subscription, before, after } of candidates) {
    const event = events[at]
    if (event === undefined) continue
    const evaluate = (keys: RecordAndFilterKeyMatch, record: RecordValues | null): boolean => {
      if (isFilterDecidedByKeys(keys) || record === null) return keys.whole
      const predicate = filters.get(subscription)
      if (predicate === undefined) unreadable.add(subscription)
      return predicate ? matches(replaceAgesByDates(predicate, event.recordType, day), record) : predicate === null
    }
    const presence = filterTransitionOf(evaluate(before, event.before), evaluate(after, event.after))
    if (presence !== null) found.push({ at, subscription, presence })
  }
  return { matches: found.filter((one) => !unreadable.has(one.subscription)), unreadable: [...unreadable] }
}

/** True when keys alone show that the record fulfils the filter (`whole`), or does not: it has no key of the filter (`!some`). */
const isFilterDecidedByKeys = ({ some, whole }: RecordAndFilterKeyMatch): boolean => whole || !some

/** The filter was fulfilled only before the change (`left`), only after it (`entered`), or both; null: neither. */
function filterTransitionOf(before: boolean, after: boolean): FilterTransition | null {
  if (before) return after ? 'stayed' : 'left'
  return after ? 'entered' : null
}
