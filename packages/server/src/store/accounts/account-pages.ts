/** The accounts in the order of their chains, in pages: a database of any size is read in little memory. */
import type { Snapshot } from '../db/transaction.ts'

/** An entry as it is stored; `at` with microseconds. */
export interface AccountToVerify {
  readonly chain: string
  readonly sequence: number
  readonly at: string
  readonly entry: string
  readonly commitments: Buffer
  readonly hash: Buffer
  readonly message_id: string | null
  readonly reply_message_id: string | null
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
  readonly id: number
  readonly chain: string
  readonly sequence: number
  readonly hash: Buffer
  readonly at: string
  readonly content: string
  readonly digest: Buffer
  readonly kid: string
  readonly signature: Buffer
}

export interface TombstoneToVerify {
  readonly id: number
  readonly at: string
  readonly content: string
  readonly kid: string
  readonly signature: Buffer
  readonly chains: readonly string[]
}

const AT = `to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`

const ENTRIES = `select chain, sequence, ${AT}, entry, commitments, hash, message_id, reply_message_id from account
  where (chain, sequence) > ($1, $2) order by chain, sequence limit 500`

const PERSONS = `select chain, sequence, position, pseudonym, salt, role from account_person
  where (chain, sequence, position) > ($1, $2, $3) order by chain, sequence, position limit 5000`

const CHECKPOINTS = `select id, chain, sequence, hash, ${AT}, content, digest, kid, signature from account_checkpoint
  where (chain, id) > ($1, $2) order by chain, id limit 500`

const TOMBSTONES = `select id, ${AT}, content, kid, signature, chains from account_tombstone
  where id > $1 order by id limit 10`

/** Before every chain. */
const FIRST = '00000000-0000-0000-0000-000000000000'

async function* pages<Row extends object>(
  snapshot: Snapshot,
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

export const readEntries = (snapshot: Snapshot): AsyncGenerator<AccountToVerify> =>
  pages(snapshot, ENTRIES, [FIRST, 0], ({ chain, sequence }) => [chain, sequence])

export const readPersons = (snapshot: Snapshot): AsyncGenerator<PersonToVerify> =>
  pages(snapshot, PERSONS, [FIRST, 0, 0], ({ chain, sequence, position }) => [chain, sequence, position])

/** Those of each chain in the order in which they were written. */
export const readCheckpoints = (snapshot: Snapshot): AsyncGenerator<CheckpointToVerify> =>
  pages(snapshot, CHECKPOINTS, [FIRST, 0], ({ chain, id }) => [chain, id])

export const readTombstones = (snapshot: Snapshot): AsyncGenerator<TombstoneToVerify> =>
  pages(snapshot, TOMBSTONES, [0], ({ id }) => [id])

/** The contents of the tombstones that name a chain, with their ids. */
export async function tombstonesOf(
  snapshot: Snapshot,
  chain: string,
): Promise<readonly Pick<TombstoneToVerify, 'id' | 'content'>[]> {
  const { rows } = await snapshot.query<Pick<TombstoneToVerify, 'id' | 'content'>>(
    'select id, content from account_tombstone where chains @> array[$1::uuid] order by id',
    [chain],
  )
  return rows
}

/** Those of the digests that are there, in hexadecimal, with what they sign. */
export async function findCheckpoints(
  snapshot: Snapshot,
  digests: readonly string[],
): Promise<
  ReadonlyMap<string, { readonly chain: string; readonly sequence: number; readonly hash: string }>
> {
  const { rows } = await snapshot.query<{ digest: string; chain: string; sequence: number; hash: string }>(
    `select encode(digest, 'hex') as digest, chain, sequence, encode(hash, 'hex') as hash from account_checkpoint
      where digest = any($1)`,
    [digests.map((digest) => Buffer.from(digest, 'hex'))],
  )
  return new Map(rows.map((row) => [row.digest, row]))
}
