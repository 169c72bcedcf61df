/** Entries of the accounts, as they are read: by the persons that they are about, or the newest first. */
import type { AccountKind, PersonRole, StoredAccountEntry } from '../../model/account.ts'
import type { Database } from '../db/database.ts'

/** An entry in its place. */
export interface ReadAccount {
  readonly chain: string
  readonly sequence: number
  readonly at: Date
  readonly entry: StoredAccountEntry
}

/** The times between which an entry was written; the end is not included. */
export interface Period {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** An entry about a person. */
export interface AccountOfPerson extends ReadAccount {
  /** By which of the pseudonyms it is found, with the roles of the person. */
  readonly found: readonly { readonly pseudonym: Buffer; readonly role: PersonRole }[]
}

type Row<Members> = Omit<ReadAccount, 'entry'> & { readonly entry: string } & Members

const parsed = <Members extends object>({
  entry,
  ...row
}: Row<Members>): Omit<Row<Members>, 'entry'> & {
  readonly entry: StoredAccountEntry
} => ({ ...row, entry: JSON.parse(entry) as StoredAccountEntry })

const DURING = `($2::timestamptz is null or account.at >= $2) and ($3::timestamptz is null or account.at < $3)`

/** The oldest first. */
export async function accountsOfPseudonyms(
  { pool }: Pick<Database, 'pool'>,
  pseudonyms: readonly Buffer[],
  { from, to }: Period,
): Promise<readonly AccountOfPerson[]> {
  const { rows } = await pool.query<
    Row<{ readonly found: readonly { readonly pseudonym: string; readonly role: PersonRole }[] }>
  >(
    `select chain, sequence, at, entry, found from (
       select chain, sequence, json_agg(json_build_object('pseudonym', encode(pseudonym, 'hex'), 'role', role)) as found
       from account_person where pseudonym = any($1) group by chain, sequence
     ) as person join account using (chain, sequence)
     where ${DURING} order by at, chain, sequence`,
    [pseudonyms, from ?? null, to ?? null],
  )
  return rows.map((row) => {
    const found = row.found.map(({ pseudonym, role }) => ({ pseudonym: Buffer.from(pseudonym, 'hex'), role }))
    return { ...parsed(row), found }
  })
}

/** Entries of answers that give the stored answers to these exchanges again. */
export async function accountsThatRepeat(
  { pool }: Pick<Database, 'pool'>,
  correlation_ids: readonly string[],
  { from, to }: Period,
): Promise<readonly ReadAccount[]> {
  if (correlation_ids.length === 0) return []
  const { rows } = await pool.query<Row<object>>(
    `select chain, sequence, at, entry from account
     where strpos(entry, '"repeats":[') > 0 and ((entry::jsonb) -> 'repeats') ?| $1 and ${DURING}
     order by at, chain, sequence`,
    [correlation_ids, from ?? null, to ?? null],
  )
  return rows.map(parsed)
}

export interface AccountFilter extends Period {
  /** sender_id */
  readonly participant?: string | undefined
  /** Namespace. */
  readonly registry?: string | undefined
  readonly kind?: AccountKind | undefined
}

/** Days that are looked through, the newest first, until there are enough entries. */
const SPANS = [1 / 24, 1, 30, null]
const DAY = 86_400_000

/** The newest first. */
export async function newestAccounts(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, kind, from, to }: AccountFilter,
  limit: number,
): Promise<readonly ReadAccount[]> {
  for (const span of SPANS) {
    const since = span === null ? null : new Date((to?.getTime() ?? Date.now()) - span * DAY)
    const isAll = since === null || (from !== undefined && since < from)
    const { rows } = await pool.query<Row<object>>(
      `select chain, sequence, at, entry from account
       where ($1::text is null or entry::jsonb ->> 'participant' = $1) and ${DURING}
         and ($4::text is null or entry::jsonb ->> 'registry' = $4)
         and ($5::text is null or entry::jsonb ->> 'kind' = $5)
       order by at desc, chain, sequence desc limit $6`,
      [
        participant ?? null,
        isAll ? (from ?? null) : since,
        to ?? null,
        registry ?? null,
        kind ?? null,
        limit,
      ],
    )
    if (rows.length === limit || isAll) return rows.map(parsed)
  }
  return []
}

/** Every entry of what a participant has asked for, or been sent, in a registry, one after the other, the oldest first. */
export async function* accountsOfParticipant(
  { pool }: Pick<Database, 'pool'>,
  {
    participant,
    registry,
    from,
  }: { readonly participant: string; readonly registry: string; readonly from: Date },
): AsyncGenerator<ReadAccount> {
  let after = null as Pick<ReadAccount, 'at' | 'chain' | 'sequence'> | null
  for (;;) {
    const { rows }: { readonly rows: readonly Row<object>[] } = await pool.query<Row<object>>(
      `select chain, sequence, at, entry from account
       where at >= $1 and ($2::uuid is null or (at, chain, sequence) > ($1, $2, $3))
         and entry::jsonb ->> 'participant' = $4 and entry::jsonb ->> 'registry' = $5
       order by at, chain, sequence limit $6`,
      [after?.at ?? from, after?.chain ?? null, after?.sequence ?? null, participant, registry, BATCH],
    )
    for (const row of rows) yield parsed(row)
    after = rows.at(-1) ?? null
    if (after === null || rows.length < BATCH) return
  }
}

const BATCH = 5_000

/** Entries in which the emergency part of a grant was used, the oldest first, some at a time. */
export async function* emergencyAccounts({
  pool,
}: Pick<Database, 'pool'>): AsyncGenerator<readonly ReadAccount[]> {
  for (let after = null as Pick<ReadAccount, 'at' | 'chain' | 'sequence'> | null; ; ) {
    const { rows }: { readonly rows: readonly Row<object>[] } = await pool.query<Row<object>>(
      `select chain, sequence, at, entry from account
       where strpos(entry, '"emergency":true') > 0
         and ($1::timestamptz is null or (at, chain, sequence) > ($1, $2::uuid, $3::bigint))
       order by at, chain, sequence limit $4`,
      [after?.at ?? null, after?.chain ?? null, after?.sequence ?? null, EMERGENCIES],
    )
    yield rows.map(parsed)
    after = rows.at(-1) ?? null
    if (after === null || rows.length < EMERGENCIES) return
  }
}

const EMERGENCIES = 500

/** The entry in a place. */
export async function accountAt(
  { pool }: Pick<Database, 'pool'>,
  { chain, sequence }: Pick<ReadAccount, 'chain' | 'sequence'>,
): Promise<ReadAccount | null> {
  const { rows } = await pool.query<Row<object>>(
    'select chain, sequence, at, entry from account where chain = $1 and sequence = $2',
    [chain, sequence],
  )
  return rows[0] === undefined ? null : parsed(rows[0])
}
