/** Finds the subscriptions whose filters share a key with a changed record (`FilterKey`): only these can match the change. */
import { groupValuesByColumn } from '@rollcall/database/column-values'
import type { ClientBase } from 'pg'

/** One key of a record that changed. */
export interface MatchKeyOfChangedRecord {
  /** The index, in the caller's list, of the event that reports the change. */
  readonly at: number
  readonly event_type: string
  readonly record_type: string
  readonly key: Uint8Array
  /** True when the record had the key before the change. */
  readonly before: boolean
  /** True when the record has the key after the change. */
  readonly after: boolean
}

/** The result of comparing the keys of a record with the keys of a subscription's filter. */
export interface RecordAndFilterKeyMatch {
  /** True when the record and the filter have a key in common. Otherwise the record does not fulfil the filter. */
  readonly some: boolean
  /** True when one of the common keys shows that the record fulfils the whole filter (`FilterKey.whole`). */
  readonly whole: boolean
}

/**
 * A subscription that a change may match. `before` and `after` compare the keys of the subscription's filter with those that the
 * record has before and after the change.
 */
export interface SubscriptionCandidate {
  readonly at: number
  readonly subscription: number
  readonly before: RecordAndFilterKeyMatch
  readonly after: RecordAndFilterKeyMatch
}

/** The most candidate subscriptions in a page. */
const MOST_CANDIDATES = 5_000

/** Returns those of the pairs of event type and record type to which somebody has a live subscription. */
export async function findSubscribedTypes<Pair extends Pick<MatchKeyOfChangedRecord, 'event_type' | 'record_type'>>(
  client: ClientBase,
  registryId: number,
  pairs: readonly Pair[],
): Promise<readonly Pair[]> {
  const { rows } = await client.query<{ at: number }>(
    `select pair.at::int from unnest($2::text[], $3::text[]) with ordinality as pair (event_type, record_type, at)
     where exists (
       select from subscription_key as filed
       where filed.registry = $1
         and (filed.event_type, filed.record_type) = (pair.event_type, pair.record_type)
     )`,
    [registryId, pairs.map(({ event_type }) => event_type), pairs.map(({ record_type }) => record_type)],
  )
  const subscribed = new Set(rows.map(({ at }) => at - 1))
  return pairs.filter((_, at) => subscribed.has(at))
}

// SQL that looks up each key in the index. `offset 0` keeps PostgreSQL from reading the whole table.
const FIND_CANDIDATES = `select probe.at, filed.subscription,
    bool_or(probe.before), bool_or(probe.before and filed.whole),
    bool_or(probe.after), bool_or(probe.after and filed.whole)
  from unnest($2::int[], $3::text[], $4::text[], $5::bytea[], $6::bool[], $7::bool[])
    as probe (at, event_type, record_type, key, before, after)
  cross join lateral (
    select subscription, whole from subscription_key
    where registry = $1 and event_type = probe.event_type and record_type = probe.record_type
      and key = probe.key
    offset 0
  ) as filed
  where (probe.at, filed.subscription) > ($8, $9)
  group by probe.at, filed.subscription order by probe.at, filed.subscription`

/**
 * Yields the candidates of all changes in pages, each once, in the order of the changes and then of the subscriptions. Runs in
 * the caller's transaction; only one generator of `findCandidates` may be open in a transaction at a time.
 */
export async function* findCandidates(
  client: ClientBase,
  registryId: number,
  probes: readonly MatchKeyOfChangedRecord[],
): AsyncGenerator<readonly SubscriptionCandidate[]> {
  if (probes.length === 0) return
  const values = [registryId, ...groupValuesByColumn(probes, ['at', 'event_type', 'record_type', 'key', 'before', 'after'])]
  const first = await client.query<CandidateRow>({
    name: 'find candidates',
    text: `${FIND_CANDIDATES} limit ${MOST_CANDIDATES}`,
    rowMode: 'array',
    values: [...values, -1, 0],
  })
  if (first.rows.length > 0) yield first.rows.map(candidateOf)
  const last = first.rows[MOST_CANDIDATES - 1]
  if (last === undefined) return
  const [at, subscription] = last
  const cursor = `declare candidates no scroll cursor for ${FIND_CANDIDATES}`
  await client.query(cursor, [...values, at, subscription])
  for (;;) {
    const { rows } = await client.query<CandidateRow>({ text: `fetch ${MOST_CANDIDATES} from candidates`, rowMode: 'array' })
    if (rows.length > 0) yield rows.map(candidateOf)
    if (rows.length < MOST_CANDIDATES) break
  }
  await client.query('close candidates')
}

type CandidateRow = [at: number, subscription: number, before: boolean, beforeWhole: boolean, after: boolean, afterWhole: boolean]

function candidateOf([at, subscription, before, beforeWhole, after, afterWhole]: CandidateRow): SubscriptionCandidate {
  return { at, subscription, before: { some: before, whole: beforeWhole }, after: { some: after, whole: afterWhole } }
}
