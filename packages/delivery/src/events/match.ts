/**
 * Finds the subscriptions that a change of records matches. Those that are filed under a key of the changed record are
 * candidates; what a key does not decide of their filters is evaluated on the record before and after the change. The
 * cost grows with the candidates, not with all subscriptions.
 */

import { recentlyUsed } from '@rollcall/base/shared/recently-used'
import { changeKeys } from '@rollcall/core/events/filing'
import type { Presence } from '@rollcall/core/model/event'
import type { Predicate } from '@rollcall/core/model/predicate'
import type { Registry } from '@rollcall/core/model/registry'
import type { ExtractedRecord } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import { resolveAges } from '@rollcall/core/query/resolve-ages'
import type { Kind, RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import {
  type Candidate,
  candidatesOf,
  criteriaOf,
  type KeyMatch,
  type Probe,
  subscribedTypes,
} from '../store/events/candidates.ts'

/** An event whose subscribers are looked for. */
export interface MatchedEvent {
  readonly event_type: string
  readonly recordType: RecordType
  /** The record before the change and after it; null where there was none. */
  readonly before: ExtractedRecord | null
  readonly after: ExtractedRecord | null
}

export interface Match {
  /** Index of the event. */
  readonly at: number
  readonly subscription: number
  readonly presence: Presence
}

export interface MatchPage {
  readonly matches: readonly Match[]
  /** Subscriptions whose filter cannot be read any more, such as one for an attribute that was taken away: they match nothing. */
  readonly unreadable: readonly number[]
}

/** Reads the filter of a stored subscription. Throws where it cannot be read. */
export type CompileFilter = (kind: Kind, criteria: string) => { readonly predicate: Predicate | null }

/** Filters that a node keeps in memory. */
const COMPILED = 100_000

/** From this number of events on, a first query finds out whether anybody has subscribed to events like them. */
const MANY = 10

interface CompiledFilter {
  /** The kind with the attributes for which the predicate was read. */
  readonly kind: Kind
  /** Undefined when it cannot be read. */
  readonly predicate: Predicate | null | undefined
}

export interface Matching {
  readonly registry: Registry
  /** YYYY-MM-DD in the registry's time zone: ages are those of this day. */
  readonly day: string
  readonly compiled: CompiledFilters
}

/** Filters of subscriptions, read once: a subscription's filter never changes. */
export class CompiledFilters {
  readonly #compile: CompileFilter
  readonly #filters = recentlyUsed<number, CompiledFilter>(COMPILED)

  constructor(compile: CompileFilter) {
    this.#compile = compile
  }

  /** Predicates by subscription: null without a filter, undefined when the filter cannot be read. */
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
    for (const [id, criteria] of await criteriaOf(client, missing)) {
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

/** All matches of the events, a page at a time, in the order of the events. Runs inside the caller's transaction. */
export async function* matchEvents(
  client: ClientBase,
  matching: Matching,
  events: readonly MatchedEvent[],
): AsyncGenerator<MatchPage> {
  const probes = await probesOf(client, matching.registry.id, events)
  for await (const candidates of candidatesOf(client, matching.registry.id, probes)) {
    yield await decide(client, matching, events, candidates)
  }
}

async function probesOf(
  client: ClientBase,
  registryId: number,
  events: readonly MatchedEvent[],
): Promise<readonly Probe[]> {
  const subscribed = events.length < MANY ? null : await typesWithSubscribers(client, registryId, events)
  return events.flatMap(({ event_type, recordType, before, after }, at) => {
    if (subscribed?.has(`${event_type}\0${recordType.name}`) === false) return []
    return changeKeys(before, after).map((key) => ({ at, event_type, record_type: recordType.name, ...key }))
  })
}

/** Types of event and record of these events to which anybody has subscribed. */
async function typesWithSubscribers(
  client: ClientBase,
  registryId: number,
  events: readonly MatchedEvent[],
): Promise<ReadonlySet<string>> {
  const pairs = new Map(
    events.map(({ event_type, recordType: { name } }) => [`${event_type}\0${name}`, { event_type, record_type: name }]),
  )
  const found = await subscribedTypes(client, registryId, [...pairs.values()])
  return new Set(found.map(({ event_type, record_type }) => `${event_type}\0${record_type}`))
}

async function decide(
  client: ClientBase,
  { registry, day, compiled }: Matching,
  events: readonly MatchedEvent[],
  candidates: readonly Candidate[],
): Promise<MatchPage> {
  const open = candidates.filter(({ before, after }) => !isDecided(before) || !isDecided(after))
  const filters = await compiled.of(
    client,
    registry.kind,
    open.map(({ subscription }) => subscription),
  )
  const found: Match[] = []
  const unreadable = new Set<number>()
  for (const { at, subscription, before, after } of candidates) {
    const event = events[at]
    if (event === undefined) continue
    const evaluate = (keys: KeyMatch, record: ExtractedRecord | null): boolean => {
      if (isDecided(keys) || record === null) return keys.whole
      const predicate = filters.get(subscription)
      if (predicate === undefined) unreadable.add(subscription)
      return predicate ? matches(resolveAges(predicate, event.recordType, day), record) : predicate === null
    }
    const presence = presenceOf(evaluate(before, event.before), evaluate(after, event.after))
    if (presence !== null) found.push({ at, subscription, presence })
  }
  return { matches: found.filter((one) => !unreadable.has(one.subscription)), unreadable: [...unreadable] }
}

/** True when the keys alone tell whether the record fulfils the filter. */
const isDecided = ({ some, whole }: KeyMatch): boolean => whole || !some

/** Whether a filter is fulfilled before a change, after it, or both; null: neither. */
function presenceOf(before: boolean, after: boolean): Presence | null {
  if (before) return after ? 'stayed' : 'left'
  return after ? 'entered' : null
}
