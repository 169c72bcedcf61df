/** Reads the audit log in pages, in the order of its chains, so that a large database needs little memory. */
import type { Database } from '@rollcall/database/database'
import type { SnapshotConnection } from '@rollcall/database/transaction'
import { ENTRIES_WITH_CONTENT_SQL, STORED_ENTRY_COLUMNS, type StoredEntry } from './entry-shape.ts'

/** A stored entry with what `verify` checks; `at` has microseconds. */
export interface EntryToVerify extends StoredEntry {
  readonly chain: string
  readonly sequence: number
  readonly at: string
  /** The commitments to the persons; empty when the persons are packed in the row. */
  readonly commitments: Buffer
  readonly hash: Buffer
  /** False for an entry of an earlier version: it has null in `shape`, `persons`, `keys` and `emergency`. */
  readonly is_packed: boolean
  /** True when the row has the whole text of the entry, and no shape. */
  readonly is_whole: boolean
  readonly shape: Buffer | null
  readonly persons: Buffer | null
  /** The array of look-up keys (`entrySearchKeysOf`) as PostgreSQL writes it: in a changed row it may have any numbers. */
  readonly keys: string | null
  readonly emergency: boolean | null
}

export interface ShapeToVerify {
  readonly digest: Buffer
  readonly content: string
}

export interface PersonToVerify {
  readonly chain: string
  readonly sequence: number
  readonly position: number
  readonly pseudonym: Buffer
  readonly salt: Buffer
  readonly role: string
}

export interface CheckpointToVerify {
  readonly id: string
  readonly chain: string
  readonly sequence: number
  readonly hash: Buffer
  readonly at: string
  readonly content: string
  readonly digest: Buffer
  readonly kid: string
  readonly signature: Buffer
}

/** A stored review of an emergency; `at` has microseconds. */
export interface StoredEmergencyReview {
  readonly id: string
  readonly chain: string
  readonly sequence: number
  readonly at: string
  readonly reviewed_by: string
  readonly sealed: string
}

export interface TombstoneToVerify {
  readonly id: string
  readonly at: string
  readonly content: string
  readonly kid: string
  readonly signature: Buffer
  readonly chains: readonly string[]
}

/** SQL that writes a time with microseconds. Infinity, which a changed row may have, is written as PostgreSQL writes it. */
const AT_TEXT_SQL = `coalesce(to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), at::text) as at`

/**
 * SQL of a sequence number, limited to the safe integers of JavaScript. We write none beyond them, and the hash of an entry with
 * such a sequence does not match. `key` has the exact number.
 */
const SAFE_SEQUENCE_SQL = `greatest(least(sequence, ${Number.MAX_SAFE_INTEGER}), ${Number.MIN_SAFE_INTEGER}) as sequence`
const EXACT_SEQUENCE_SQL = 'sequence::text as key'

// Who tampers with the database can give a row of `account` and a row of `account_entry` the same chain and sequence. The rows
// are sorted by their table, too, so that a page that ends between the two skips neither.
const READ_ENTRIES = `select chain, ${SAFE_SEQUENCE_SQL}, ${EXACT_SEQUENCE_SQL}, tableoid::text as place, ${AT_TEXT_SQL}, ${STORED_ENTRY_COLUMNS}, commitments, hash,
    tableoid = 'account_entry'::regclass as is_packed, entry <> '' as is_whole,
    shape, persons, keys::text as keys, emergency
  from ${ENTRIES_WITH_CONTENT_SQL}
  where (chain, account.sequence) >= ($1, $2::bigint) and (chain, account.sequence, tableoid) > ($1, $2::bigint, $3::oid)
  order by chain, account.sequence, tableoid limit 500`

const READ_ENTRY_SHAPES = 'select digest, content from account_shape where digest > $1 order by digest limit 500'

const READ_PERSONS = `select chain, ${SAFE_SEQUENCE_SQL}, ${EXACT_SEQUENCE_SQL}, position, pseudonym, salt, role from account_person
  where (chain, account_person.sequence, position) > ($1, $2::bigint, $3)
  order by chain, account_person.sequence, position limit 5000`

const READ_CHECKPOINTS = `select id::text as id, chain, ${SAFE_SEQUENCE_SQL}, hash, ${AT_TEXT_SQL}, content, digest, kid, signature from account_checkpoint
  where (chain, account_checkpoint.id) > ($1, $2::bigint)
  order by chain, account_checkpoint.id limit 500`

const READ_TOMBSTONES = `select id::text as id, ${AT_TEXT_SQL}, content, kid, signature, chains::text[] as chains from account_tombstone
  where account_tombstone.id > $1::bigint order by account_tombstone.id limit 10`

/** The columns of a `StoredEmergencyReview`, as SQL. */
export const REVIEW_COLUMNS = `id::text as id, chain, ${SAFE_SEQUENCE_SQL}, ${AT_TEXT_SQL}, reviewed_by, sealed`

const READ_REVIEWS = `select ${REVIEW_COLUMNS} from account_review
  where account_review.id > $1::bigint order by account_review.id limit 500`

/** A chain id that sorts before every other, from which reading begins. */
const LEAST_CHAIN_ID = '00000000-0000-0000-0000-000000000000'
const LEAST_SEQUENCE = '-9223372036854775808'

interface WithExactSequence {
  readonly key: string
}

async function* readRowsInPages<Row extends object>(
  snapshot: SnapshotConnection,
  text: string,
  first: readonly unknown[],
  keyOf: (row: Row) => readonly unknown[],
): AsyncGenerator<Row> {
  for (let after = first; ; ) {
    const { rows } = await snapshot.query<Row>(text, [...after])
    yield* rows
    const last = rows.at(-1)
    if (last === undefined) return
    after = keyOf(last)
  }
}

export const readEntries = (snapshot: SnapshotConnection): AsyncGenerator<EntryToVerify> =>
  readRowsInPages<EntryToVerify & WithExactSequence & { readonly place: string }>(
    snapshot,
    READ_ENTRIES,
    [LEAST_CHAIN_ID, LEAST_SEQUENCE, '0'],
    ({ chain, key, place }) => [chain, key, place],
  )

export const readShapes = (snapshot: SnapshotConnection): AsyncGenerator<ShapeToVerify> =>
  readRowsInPages<ShapeToVerify>(snapshot, READ_ENTRY_SHAPES, [Buffer.alloc(0)], ({ digest }) => [digest])

export const readPersons = (snapshot: SnapshotConnection): AsyncGenerator<PersonToVerify> =>
  readRowsInPages<PersonToVerify & WithExactSequence>(
    snapshot,
    READ_PERSONS,
    [LEAST_CHAIN_ID, LEAST_SEQUENCE, -1],
    ({ chain, key, position }) => [chain, key, position],
  )

/** Reads the checkpoints, sorted by chain and then by the order of writing. */
export const readCheckpoints = (snapshot: SnapshotConnection): AsyncGenerator<CheckpointToVerify> =>
  readRowsInPages(snapshot, READ_CHECKPOINTS, [LEAST_CHAIN_ID, LEAST_SEQUENCE], ({ chain, id }) => [chain, id])

export const readTombstones = (snapshot: SnapshotConnection): AsyncGenerator<TombstoneToVerify> =>
  readRowsInPages(snapshot, READ_TOMBSTONES, [LEAST_SEQUENCE], ({ id }) => [id])

export const readEmergencyReviews = (snapshot: SnapshotConnection): AsyncGenerator<StoredEmergencyReview> =>
  readRowsInPages(snapshot, READ_REVIEWS, [LEAST_SEQUENCE], ({ id }) => [id])

/** Finds the ids and contents of the tombstones that name a chain. */
export async function findTombstonesOfChain(
  snapshot: SnapshotConnection,
  chain: string,
): Promise<readonly Pick<TombstoneToVerify, 'id' | 'content'>[]> {
  const { rows } = await snapshot.query<Pick<TombstoneToVerify, 'id' | 'content'>>(
    'select id::text as id, content from account_tombstone where chains @> array[$1::uuid] order by account_tombstone.id',
    [chain],
  )
  return rows
}

/** Finds the checkpoints with these digests (hexadecimal), and what each signs. */
export async function findCheckpoints(
  snapshot: SnapshotConnection,
  digests: readonly string[],
): Promise<ReadonlyMap<string, { readonly chain: string; readonly sequence: number; readonly hash: string }>> {
  const { rows } = await snapshot.query<{ digest: string; chain: string; sequence: number; hash: string }>(
    `select encode(digest, 'hex') as digest, chain, ${SAFE_SEQUENCE_SQL}, encode(hash, 'hex') as hash from account_checkpoint
      where digest = any($1)`,
    [digests.map((digest) => Buffer.from(digest, 'hex'))],
  )
  return new Map(rows.map((row) => [row.digest, row]))
}

/** Returns the given chains that have an entry or a checkpoint. */
export async function findKnownChains(snapshot: SnapshotConnection, chains: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await snapshot.query<{ chain: string }>(
    `select asked.chain::text as chain from unnest($1::uuid[]) as asked (chain)
      where exists (select from account where account.chain = asked.chain)
        or exists (select from account_checkpoint where account_checkpoint.chain = asked.chain)`,
    [chains],
  )
  return new Set(rows.map(({ chain }) => chain))
}

/** Estimates the number of entries from the statistics of the database, without reading entries. */
export async function estimateEntries({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ about: number }>(
    `select sum(greatest(reltuples, 0))::float8 as about from pg_class
      where oid in ('account'::regclass, 'account_entry'::regclass)`,
  )
  return rows[0]?.about ?? 0
}
