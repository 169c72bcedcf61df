/** The highest number seen under each of many names: the version of an item, the sequence of a registry's envelopes. */
import type { Query } from './received-in-sql.ts'

/** Names are digests: they tell nothing about anybody. */
export interface HighWaterMarks {
  /** Null when nothing is remembered under this name. */
  get(name: string): Promise<number | null>
  /** Remembers a number unless a higher one is. */
  raise(name: string, value: number): Promise<void>
  /** `get` for many names at once; names without a value are left out. Without it, `get` is called for each name. */
  getAll?(names: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** `raise` for many names at once. Without it, `raise` is called for each name. */
  raiseAll?(values: ReadonlyMap<string, number>): Promise<void>
}

export async function readMarks(marks: HighWaterMarks, names: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (marks.getAll !== undefined) return marks.getAll(names)
  const found = new Map<string, number>()
  for (const name of names) {
    const value = await marks.get(name)
    if (value !== null) found.set(name, value)
  }
  return found
}

export async function raiseMarks(marks: HighWaterMarks, values: ReadonlyMap<string, number>): Promise<void> {
  if (marks.raiseAll !== undefined) return marks.raiseAll(values)
  for (const [name, value] of values) await marks.raise(name, value)
}

/** Remembers in this process. @param options.names those raised last are remembered; 100 000 by default */
export function marksInMemory({ names = 100_000 }: { readonly names?: number } = {}): HighWaterMarks {
  /** Marks by name, in the order of their last rise. */
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

/** Makes the table, once. */
export const HIGH_WATER_MARKS_TABLE = `create table if not exists rollcall_high_water_mark (
  name text primary key,
  value bigint not null,
  raised_at timestamptz not null default now()
)`

const GET = 'select value from rollcall_high_water_mark where name = $1'

const RAISE = `insert into rollcall_high_water_mark as known (name, value) values ($1, $2)
on conflict (name) do update set value = greatest(known.value, excluded.value), raised_at = now()`

// Names and values come as the text of JSON: drivers differ in how they write arrays.
const GET_ALL = `select name, value from rollcall_high_water_mark
where name = any (array(select json_array_elements_text($1::text::json)))`

// One order of names, so that two processes never wait for each other.
const RAISE_ALL = `insert into rollcall_high_water_mark as known (name, value)
select key, value::bigint from json_each_text($1::text::json) order by key
on conflict (name) do update set value = greatest(known.value, excluded.value), raised_at = now()`

const FORGET = 'delete from rollcall_high_water_mark where raised_at < now() - make_interval(secs => $1)'

export interface SqlMarks extends HighWaterMarks {
  /** Forgets marks that were not raised for this time; a year by default. Call it now and then. */
  forget(options?: { readonly age_seconds?: number }): Promise<void>
}

const YEAR = 366 * 24 * 3_600

/** Remembers in PostgreSQL, over restarts and for several processes. */
export function marksInSql(query: Query): SqlMarks {
  return {
    async get(name) {
      const { rows } = await query(GET, [name])
      return rows[0] === undefined ? null : Number(rows[0].value)
    },
    async raise(name, value) {
      await query(RAISE, [name, value])
    },
    async getAll(names) {
      const { rows } = await query(GET_ALL, [JSON.stringify(names)])
      return new Map(rows.map(({ name, value }) => [String(name), Number(value)]))
    },
    async raiseAll(values) {
      await query(RAISE_ALL, [JSON.stringify(Object.fromEntries(values))])
    },
    async forget({ age_seconds = YEAR } = {}) {
      await query(FORGET, [age_seconds])
    },
  }
}
