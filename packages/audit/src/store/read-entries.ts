/** Reads audit entries: those about a person, those of a participant, or the newest ones. */
import type { AuditKind, PersonRole, StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import type { Database } from '@rollcall/database/database'
import { ENTRIES_WITH_CONTENT_SQL, entryTextOf, STORED_ENTRY_COLUMNS, type StoredEntry } from './entry-shape.ts'
import { entrySearchKeyOf, unpackPersons } from './packed-persons.ts'

/** An entry with its place in the audit log. */
export interface LoggedEntry {
  readonly chain: string
  readonly sequence: number
  readonly at: Date
  readonly entry: StoredAuditEntry
}

/** The period in which an entry was written; its end is not included. */
export interface Period {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** An entry about a person. */
export interface EntryOfPerson extends LoggedEntry {
  /** The pseudonyms by which the entry was found, each with the person's role. */
  readonly found: readonly { readonly pseudonym: Buffer; readonly role: PersonRole }[]
}

export type EntryRowWithMembers<Members> = Omit<LoggedEntry, 'entry'> & StoredEntry & Members

/** Adds the parsed entry to its row. Throws an Error when the entry cannot be read. */
export const parseEntry = <Members extends object>(
  row: EntryRowWithMembers<Members>,
): EntryRowWithMembers<Members> & { readonly entry: StoredAuditEntry } => {
  const text = entryTextOf(row)
  if (text === null) throw new Error(`entry ${row.sequence} of chain ${row.chain} cannot be read: run rollcall audit verify`)
  return { ...row, entry: JSON.parse(text) as StoredAuditEntry }
}

/** The columns of an `EntryRowWithMembers`, as SQL. */
const ENTRY_ROW_COLUMNS = `chain, sequence, at, ${STORED_ENTRY_COLUMNS}`

const IS_IN_PERIOD_SQL = `($2::timestamptz is null or account.at >= $2) and ($3::timestamptz is null or account.at < $3)`

/** Reads the entries with one of these pseudonyms, the oldest first. */
export async function findEntriesOfPseudonyms(
  { pool }: Pick<Database, 'pool'>,
  pseudonyms: readonly Buffer[],
  { from, to }: Period,
): Promise<readonly EntryOfPerson[]> {
  type Found = { readonly pseudonym: string; readonly role: PersonRole }
  const { rows } = await pool.query<
    EntryRowWithMembers<{ readonly persons: Buffer | null; readonly found: readonly Found[] | null }>
  >(
    `select ${ENTRY_ROW_COLUMNS}, persons, found from ${ENTRIES_WITH_CONTENT_SQL} join (
       select chain, sequence, json_agg(json_build_object('pseudonym', encode(pseudonym, 'hex'), 'role', role)) as found
       from account_person where pseudonym = any($1) group by chain, sequence
       union all
       select chain, sequence, null from account_entry where keys && $4
     ) as person using (chain, sequence)
     where ${IS_IN_PERIOD_SQL} order by at, chain, sequence`,
    [pseudonyms, from ?? null, to ?? null, pseudonyms.map(entrySearchKeyOf)],
  )
  return rows.flatMap((row) => {
    const packed = row.persons === null ? [] : (unpackPersons(row.persons) ?? [])
    const found = [
      ...(row.found ?? []).map(({ pseudonym, role }) => ({ pseudonym: Buffer.from(pseudonym, 'hex'), role })),
      ...packed.flatMap(({ person }) =>
        person !== null && pseudonyms.some((pseudonym) => pseudonym.equals(person.pseudonym)) ? [person] : [],
      ),
    ]
    return found.length === 0 ? [] : [{ ...parseEntry(row), found }]
  })
}

/** Reads the entries which say that the stored answers to these exchanges were given or shown again, the oldest first. */
export async function findEntriesOfAnswersShownAgain(
  { pool }: Pick<Database, 'pool'>,
  correlation_ids: readonly string[],
  { from, to }: Period,
): Promise<readonly LoggedEntry[]> {
  if (correlation_ids.length === 0) return []
  const { rows } = await pool.query<EntryRowWithMembers<object>>(
    `select ${ENTRY_ROW_COLUMNS} from ${ENTRIES_WITH_CONTENT_SQL} join (
       select chain, sequence from only account
       where strpos(entry, '"repeats":[') > 0 and ((entry::jsonb) -> 'repeats') ?| $1
       union all
       select chain, sequence from account_entry where keys && $4
     ) as found using (chain, sequence)
     where (content::jsonb -> 'repeats') ?| $1 and ${IS_IN_PERIOD_SQL} order by at, chain, sequence`,
    [correlation_ids, from ?? null, to ?? null, correlation_ids.map(entrySearchKeyOf)],
  )
  return rows.map(parseEntry)
}

/** Finds those of our messages that have an audit entry but were not sent. @param message_ids of the messages */
export async function findUnsentMessages(
  { pool }: Pick<Database, 'pool'>,
  message_ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (message_ids.length === 0) return new Set()
  const { rows } = await pool.query<{ reply_message_id: string }>(
    `select reply_message_id from ${ENTRIES_WITH_CONTENT_SQL}
     where reply_message_id = any($1::text[]) and strpos(content, '"kind":"unsent"') > 0`,
    [message_ids],
  )
  return new Set(rows.map(({ reply_message_id }) => reply_message_id))
}

export interface EntryFilter extends Period {
  /** The sender_id of the participant that the entry names. */
  readonly participant?: string | undefined
  /** The namespace of the registry that the entry names. */
  readonly registry?: string | undefined
  readonly kind?: AuditKind | undefined
  /** Reads only entries that come after this one in the list, which begins with the newest. */
  readonly before?: TimedEntryPlace | undefined
}

/** The place of an entry in a list that begins with the newest. */
export type TimedEntryPlace = Pick<LoggedEntry, 'chain' | 'sequence' | 'at'>

/** SQL condition: the entry comes after a place in the list. `placeParameters` gives $6, $7 and $8. */
export const IS_BEHIND_PLACE_SQL = `($6::timestamptz is null or at < $6
  or (at = $6 and (chain > $7::uuid or (chain = $7 and sequence < $8::bigint))))`

/** The values of $6, $7 and $8 for `IS_BEHIND_PLACE_SQL`; undefined: every entry is behind the place. */
export const placeParameters = (before: TimedEntryPlace | undefined): unknown[] => [
  ...[before?.at ?? null, before?.chain ?? null, before?.sequence ?? null],
]

/** The end (excluded) of the period to read: 1 ms after `before`, because others may have the same time, but never after `to`. */
export const periodEndBehindPlace = (before: TimedEntryPlace | undefined, to: Date | undefined): Date | undefined =>
  before === undefined ? to : new Date(Math.min(before.at.getTime() + 1, to?.getTime() ?? Infinity))

/** How many entries each statement looks through, from the newest on; the last number stays for all later statements. */
const ENTRIES_PER_STATEMENT = [1_000, 10_000]

/** The result of a search, and how far it went. */
export interface EntrySearchResult<Found> {
  readonly found: readonly Found[]
  /** Entries before this time were not looked through; null when all were, or enough was found. */
  readonly rest: Date | null
}

/** Reads the entries that a filter selects, the newest first. @param most about so many entries are looked through */
export async function findNewestEntries(
  db: Pick<Database, 'pool'>,
  { participant, registry, kind, from, to, before }: EntryFilter,
  { limit, most }: EntrySearchBounds,
): Promise<EntrySearchResult<LoggedEntry>> {
  const wanted = Object.entries({ participant, registry, kind }).filter(([, value]) => value !== undefined)
  return searchNewestFirst(db, { from, to: periodEndBehindPlace(before, to) }, { limit, most }, (span, rows) =>
    findEntriesBetween(db, wanted, span, before, rows),
  )
}

/** The limits at which a search of the audit log stops. */
export interface EntrySearchBounds {
  readonly limit: number
  /** The most entries to look through; one statement may exceed it. Default: all. */
  readonly most?: number | undefined
}

/** The period that one statement reads; `to` is not in the period. */
export interface PeriodToRead {
  readonly from: Date
  readonly to: Date
}

/**
 * Looks through the audit log in periods, the newest first, until enough is found, or `most` entries were looked
 * through. Each period ends just after its newest entry: times without entries cost nothing.
 */
export async function searchNewestFirst<Found>(
  db: Pick<Database, 'pool'>,
  { from, to }: Period,
  { limit, most = Number.POSITIVE_INFINITY }: EntrySearchBounds,
  between: (span: PeriodToRead, limit: number) => Promise<readonly Found[]>,
  now = Date.now(),
): Promise<EntrySearchResult<Found>> {
  const found: Found[] = []
  const start = from ?? new Date(0)
  let until = to ?? new Date(now + MOST_CLOCK_LEAD_MS)
  let looked = 0
  for (let turn = 0; ; turn += 1) {
    const newest = await findEntryTime(db, { from: start, to: until }, 0)
    if (newest === null) return { found, rest: null }
    if (looked >= most) return { found, rest: until }
    const span = Math.min(ENTRIES_PER_STATEMENT[Math.min(turn, ENTRIES_PER_STATEMENT.length - 1)] ?? 0, most - looked)
    const to = new Date(newest.getTime() + 1)
    const since = (await findEntryTime(db, { from: start, to }, span - 1)) ?? start
    found.push(...(await between({ from: since, to }, limit - found.length)))
    if (found.length >= limit) return { found, rest: null }
    until = since
    looked += span
  }
}

/** Milliseconds by which the clock of the database may be ahead of ours. */
const MOST_CLOCK_LEAD_MS = 3_600_000

async function findEntriesBetween(
  { pool }: Pick<Database, 'pool'>,
  wanted: readonly (readonly [string, unknown])[],
  { from, to }: PeriodToRead,
  before: TimedEntryPlace | undefined,
  limit: number,
): Promise<readonly LoggedEntry[]> {
  const { rows } = await pool.query<EntryRowWithMembers<object>>(
    `select ${ENTRY_ROW_COLUMNS} from ${ENTRIES_WITH_CONTENT_SQL}
     where at >= $1 and at < $2 and ${HAS_MEMBERS_SQL} and ${IS_BEHIND_PLACE_SQL}
     order by at desc, chain, sequence desc limit $5`,
    [from, to, ...memberParameters(wanted), limit, ...placeParameters(before)],
  )
  return rows.map(parseEntry)
}

/**
 * SQL condition on members of the entry; `memberParameters` gives $3 and $4. Entries are canonical JSON, so only an entry with
 * the text `"name":value` of each member is parsed. With `and` in place of `case`, PostgreSQL might parse all entries first.
 */
export const HAS_MEMBERS_SQL = `case when content like all ($3::text[])
    then cardinality($3::text[]) = 0 or content::jsonb @> $4::jsonb else false end`

/** The values for `HAS_MEMBERS_SQL`. @param wanted names and values that members of the entry must have */
export const memberParameters = (wanted: readonly (readonly [string, unknown])[]): [patterns: string[], members: string] => [
  wanted.map(([name, value]) => `%${escapeLikePattern(`${JSON.stringify(name)}:${JSON.stringify(value)}`)}%`),
  JSON.stringify(Object.fromEntries(wanted)),
]

const escapeLikePattern = (text: string): string => text.replaceAll(/[\\%_]/g, '\\$&')

/** The time of the entry that has `newer` newer entries in a period; null when the period has too few entries. */
async function findEntryTime({ pool }: Pick<Database, 'pool'>, { from, to }: PeriodToRead, newer: number): Promise<Date | null> {
  const { rows } = await pool.query<{ at: Date }>(
    'select at from account where at >= $1 and at < $2 order by at desc offset $3 limit 1',
    [from, to, newer],
  )
  return rows[0]?.at ?? null
}

/** Yields the entries of a participant in a registry from a time on, the newest first. */
export async function* entriesOfParticipant(
  db: Pick<Database, 'pool'>,
  filter: { readonly participant: string; readonly registry: string; readonly from: Date },
): AsyncGenerator<LoggedEntry> {
  const bounds = { limit: Number.MAX_SAFE_INTEGER, most: ENTRIES_SEARCHED_AT_ONCE }
  for (let to: Date | undefined; ; ) {
    const { found, rest } = await findNewestEntries(db, { ...filter, to }, bounds)
    yield* found
    if (rest === null) return
    to = rest
  }
}

/** The number of entries that are looked through before the participant's entries among them are yielded. */
const ENTRIES_SEARCHED_AT_ONCE = 10_000

/** Yields the entries in which the emergency part of a grant was used, in pages, the oldest first. */
export async function* readEmergencyEntries({ pool }: Pick<Database, 'pool'>): AsyncGenerator<readonly LoggedEntry[]> {
  for (let after = null as Pick<LoggedEntry, 'at' | 'chain' | 'sequence'> | null; ; ) {
    const { rows }: { readonly rows: readonly EntryRowWithMembers<object>[] } = await pool.query<EntryRowWithMembers<object>>(
      `select ${ENTRY_ROW_COLUMNS} from ${ENTRIES_WITH_CONTENT_SQL} join (
         select chain, sequence from only account where strpos(entry, '"emergency":true') > 0
         union all
         select chain, sequence from account_entry where emergency
       ) as found using (chain, sequence)
       where ($1::timestamptz is null or (at, chain, sequence) > ($1, $2::uuid, $3::bigint))
       order by at, chain, sequence limit $4`,
      [after?.at ?? null, after?.chain ?? null, after?.sequence ?? null, EMERGENCY_PAGE_SIZE],
    )
    yield rows.map(parseEntry)
    after = rows.at(-1) ?? null
    if (after === null || rows.length < EMERGENCY_PAGE_SIZE) return
  }
}

const EMERGENCY_PAGE_SIZE = 500

/** Reads the entry at a place; null when there is none. */
export async function findEntryAt(
  { pool }: Pick<Database, 'pool'>,
  { chain, sequence }: Pick<LoggedEntry, 'chain' | 'sequence'>,
): Promise<LoggedEntry | null> {
  const { rows } = await pool.query<EntryRowWithMembers<object>>(
    `select ${ENTRY_ROW_COLUMNS} from ${ENTRIES_WITH_CONTENT_SQL} where chain = $1 and sequence = $2`,
    [chain, sequence],
  )
  return rows[0] === undefined ? null : parseEntry(rows[0])
}
