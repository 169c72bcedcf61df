/** Stores the highest number for each of many names: versions of records, and sequence numbers of notifications. */
import type { Query } from './received-in-sql.ts'

/** A store of the highest number for each name. Names are digests, in which no identifier of a person can be read. */
export interface HighWaterMarks {
  /** The highest number stored for a name; null when there is none. */
  get(name: string): Promise<number | null>
  /** Stores a number for a name, unless a higher number is stored for the name. */
  raise(name: string, value: number): Promise<void>
  /** `get` for many names at once; names without a number are left out. Optional: without it, `get` is called for each name. */
  getAll?(names: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** `raise` for many names at once. Optional: without it, `raise` is called for each name. */
  raiseAll?(values: ReadonlyMap<string, number>): Promise<void>
}

/** The numbers for many names; names without a number are left out. */
export async function readMarks(marks: HighWaterMarks, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (marks.getAll !== undefined) return marks.getAll(names)
  const found = new Map<string, number>()
  for (const name of names) {
    const value = await marks.get(name)
    if (value !== null) found.set(name, value)
  }
  return found
}

/** Stores many numbers by their names, each unless a higher one is stored. */
export async function raiseMarks(marks: HighWaterMarks, values: ReadonlyMap<string, number>): Promise<void> {
  if (marks.raiseAll !== undefined) return marks.raiseAll(values)
  for (const [name, value] of values) await marks.raise(name, value)
}

/**
 * Stores marks in this process.
 * @param options.names the most marks that are stored, 100 000 by default; when there are more, the marks that were raised
 * longest ago are deleted
 */
export function marksInMemory({ names = 100_000 }: { readonly names?: number } = {}): HighWaterMarks {
  /** The marks by name, in the order in which they were last raised. */
  const marks = new Map<string, number>()
  return {
    async get(name) {
      return marks.get(name) ?? null
    },
    async raise(name, value) {
      const highest = Math.max(value, marks.get(name) ?? value)
      marks.delete(name)
      marks.set(name, highest)
      for (const oldest of marks.keys()) {
        if (marks.size <= names) break
        marks.delete(oldest)
      }
    },
  }
}

/** SQL that makes the table for `marksInSql`; run it once. */
export const HIGH_WATER_MARKS_TABLE = `create table if not exists rollcall_high_water_mark (
  name text primary key,
  value bigint not null,
  raised_at timestamptz not null default now()
)`

const FIND_MARK = 'select value from rollcall_high_water_mark where name = $1'

/** The highest number that the column can have. A registry may send higher numbers; this number is stored in place of them. */
const MAX_VALUE = '9223372036854775807'

const RAISE_MARK = `insert into rollcall_high_water_mark as known (name, value)
values ($1, least($2::numeric, ${MAX_VALUE})::bigint)
on conflict (name) do update set value = greatest(known.value, excluded.value), raised_at = now()`

// Names and values are sent as JSON texts, because drivers write arrays in different ways.
const FIND_MARKS = `select name, value from rollcall_high_water_mark
where name = any (array(select json_array_elements_text($1::text::json)))`

// Marks are written in the order of their names, so that two processes do not deadlock.
const RAISE_MARKS = `insert into rollcall_high_water_mark as known (name, value)
select key, least(value::numeric, ${MAX_VALUE})::bigint from json_each_text($1::text::json) order by key
on conflict (name) do update set value = greatest(known.value, excluded.value), raised_at = now()`

const DELETE_OLD_MARKS = 'delete from rollcall_high_water_mark where raised_at < now() - make_interval(secs => $1)'

/** High-water marks in a table of PostgreSQL. */
export interface SqlMarks extends HighWaterMarks {
  /** Deletes marks that were not raised for `age_seconds`; a year by default. Call it sometimes. */
  forget(options?: { readonly age_seconds?: number }): Promise<void>
}

const YEAR_SECONDS = 366 * 24 * 3_600

/** Stores marks in PostgreSQL, so that they outlive a restart, and several processes share them. */
export function marksInSql(query: Query): SqlMarks {
  return {
    async get(name) {
      const { rows } = await query(FIND_MARK, [name])
      return rows[0] === undefined ? null : Number(rows[0].value)
    },
    async raise(name, value) {
      await query(RAISE_MARK, [name, value])
    },
    async getAll(names) {
      const { rows } = await query(FIND_MARKS, [JSON.stringify(names)])
      return new Map(rows.map(({ name, value }) => [String(name), Number(value)]))
    },
    async raiseAll(values) {
      await query(RAISE_MARKS, [JSON.stringify(Object.fromEntries(values))])
    },
    async forget({ age_seconds = YEAR_SECONDS } = {}) {
      await query(DELETE_OLD_MARKS, [age_seconds])
    },
  }
}
