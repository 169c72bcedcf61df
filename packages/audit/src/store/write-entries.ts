/** Writes entries of a chain, with their persons and new shapes, in one statement. */

import type { JointWrite } from '@rollcall/database/joint-write'
import type pg from 'pg'

/** The row of a shape, to be written or looked up. */
export interface ShapeRow {
  readonly content: string
  /** SHA-256 of the content. */
  readonly digest: Buffer
}

/** The row of an entry to write, with its hash. */
export interface NewEntry {
  /** The canonical JSON of the entry; null when it is built from its shape. */
  readonly entry: string | null
  readonly shape: ShapeRow | null
  /** The packed values of the marks; null when the entry has no shape. */
  readonly packed: Buffer | null
  /** The packed persons (`packPersons`). */
  readonly persons: Buffer
  readonly keys: readonly number[]
  readonly hash: Buffer
  readonly message_id: string | null
  readonly reply_message_id: string | null
  readonly correlation_id: string | null
  readonly emergency: boolean
  /** A row of another package that the same statement writes; null: none. */
  readonly joint: JointRow | null
}

/** A row of another package that is written in the statement of an entry. */
export interface JointRow {
  readonly write: JointWrite<unknown>
  readonly row: unknown
}

/**
 * The present time of the database, which dates audit entries. The function is named with its schema, because the application may
 * make a function of the same name, and the owner of the database runs this statement too.
 */
export async function readDatabaseTime(pool: pg.Pool): Promise<Date> {
  const text = 'select pg_catalog.clock_timestamp() as at'
  const { rows } = await pool.query<{ at: Date }>({ name: 'database time', text })
  return (rows[0] as { at: Date }).at
}

const HASH_BYTES = 32

/**
 * SQL that writes shapes and entries. Bytes, and the texts of entries, come joined: an array of them would be sent as text,
 * which takes several times as long. A shape that another node wrote meanwhile is left as it is. A shape that this process takes
 * for stored is looked up: if it is gone, after a failover to a standby that lost it, a constraint of the table refuses the
 * entry, and the caller writes both. Shapes are written in the order of their digests, so that two nodes do not deadlock. The
 * look-up is a subquery with a limit: with `exists`, the plan that PostgreSQL keeps for the statement would read the whole table.
 * If one joint row (a row of another package) cannot be locked, found or inserted, no entry is written: entries are chained, so
 * none can be left out. Other joint rows that this statement has inserted stay, and the next statement writes their entries.
 */
const WRITE_ENTRIES = `written as (
    insert into account_shape (digest, content)
    select sha256(convert_to(content, 'UTF8')), content from unnest($4::text[]) as new (content)
    order by 1 on conflict (digest) do nothing
  ), shapes as materialized (
    select number, digest from (
      select number, substr($5::bytea, (number - 1) * ${HASH_BYTES} + 1, ${HASH_BYTES}) as digest
      from generate_series(1, length($5::bytea) / ${HASH_BYTES}) as number) as shape
    where number <= cardinality($4::text[])
      or (select true from account_shape where account_shape.digest = shape.digest limit 1)
  ), entries as (
    insert into account_entry (chain, sequence, at, entry, commitments, hash, message_id, reply_message_id,
      shape, packed, persons, keys, correlation_id, emergency)
    select $1, $3::bigint + row.number, $2, convert_from(substr($6::bytea, row.start, row.text), 'UTF8'), '',
      substr($7::bytea, (row.number::integer - 1) * ${HASH_BYTES} + 1, ${HASH_BYTES}), row.message_id, row.reply_message_id,
      shapes.digest, case when row.text = 0 then substr($6, row.start, row.packed) end,
      substr($6, row.start + row.text + row.packed, row.persons), row.keys::bigint[], row.correlation_id, row.emergency
    from unnest($8::integer[], $9::integer[], $10::integer[], $11::integer[], $12::integer[], $13::text[], $14::text[],
        $15::text[], $16::uuid[], $17::boolean[]) with ordinality
      as row (start, text, packed, persons, shape, message_id, reply_message_id, keys, correlation_id, emergency, number)
      left join shapes on shapes.number = row.shape`
const ENTRY_PARAMETER_COUNT = 17

/** Statements by name, made once: each has some kilobytes, and the name determines the text. */
const entryWriteSqlByName = new Map<string, string>()

/** Makes the statement that writes entries together with the rows of the given joint writes. */
function makeWriteStatement(joints: readonly { readonly write: JointWrite<unknown>; readonly rows: readonly unknown[] }[]) {
  const name = ['write accounts', ...joints.map(({ write }) => write.name)].join(' with ')
  const values = joints.map(({ write, rows }) => write.values(rows))
  const text = entryWriteSqlByName.get(name) ?? statementSql(joints.map(({ write }, at) => [write, values[at]?.length ?? 0]))
  entryWriteSqlByName.set(name, text)
  return { name, text, values: [...values.flat(), ...joints.map(({ rows }) => rows.length)] }
}

/** Makes the SQL text of `makeWriteStatement`. @param joints each with the number of its parameters */
function statementSql(joints: readonly (readonly [JointWrite<unknown>, number])[]): string {
  if (joints.length === 0) return `with ${WRITE_ENTRIES}) select clock_timestamp() as at, null as held`
  let first = ENTRY_PARAMETER_COUNT
  const held: string[] = []
  const written: string[] = []
  for (const [write, parameters] of joints) {
    const from = first
    const parameter = (place: number): string => `$${from + place + 1}`
    held.push(write.held(parameter))
    if (write.written !== undefined) written.push(write.written(parameter))
    first += parameters
  }
  const found = joints.map(([{ name }]) => `array(select number::integer from ${name}_held) as ${name}`)
  const all = joints.map(([{ name }], at) => `cardinality(${name}) = $${first + at + 1}::integer`)
  return `with ${held.join()}, found as (select ${found.join()}),
    joint as (select ${all.join(' and ')} as held from found),
    ${[`${WRITE_ENTRIES} where (select held from joint))`, ...written].join()}
    select clock_timestamp() as at, case when not held then to_json(found) end as held from joint cross join found`
}

/**
 * Writes the entries that follow the entry `after` of a chain.
 * @param shapes the shapes of the entries, each once: `fresh` ones are written, `stored` ones are looked up
 * @returns the time of the database, and the indexes in `entries` of those whose joint row could not be locked, found or inserted
 * (`JointWrite.held`), for example because another transaction locks it; if any index is returned, no entry was written
 */
export async function writeEntries(
  pool: pg.Pool,
  { chain, after, at }: { readonly chain: string; readonly after: number; readonly at: Date },
  entries: readonly NewEntry[],
  { fresh, stored }: { readonly fresh: readonly ShapeRow[]; readonly stored: readonly ShapeRow[] },
): Promise<{ readonly at: Date; readonly unheld: readonly number[] }> {
  const parts = entries.map(({ entry, packed, persons }) => [Buffer.from(entry ?? ''), packed ?? Buffer.alloc(0), persons])
  // For each entry: the byte, counted from 1, where it begins in the joined parts of all entries, and the lengths of its parts.
  let next = 1
  const places = parts.map((those) => {
    const place = [next, ...those.map(({ length }) => length)]
    for (const { length } of those) next += length
    return place
  })
  const shapes = new Map([...fresh, ...stored].map((shape, index) => [shape, index + 1]))
  const joint = Map.groupBy(
    entries.flatMap(({ joint }, place) => (joint === null ? [] : [{ ...joint, place }])),
    ({ write }) => write,
  )
  const joints = [...joint]
    .map(([write, own]) => {
      const rows = own.map(({ row }) => row)
      return { write: write.simpler?.(rows) ?? write, rows, places: own.map(({ place }) => place) }
    })
    // Sorted by name, so that the same writes always make the same statement, which a connection then plans once.
    .sort((one, other) => (one.write.name < other.write.name ? -1 : 1))
  const statement = makeWriteStatement(joints)
  const { rows } = await pool.query<{ at: Date; held: Readonly<Record<string, readonly number[]>> | null }>({
    ...statement,
    values: [
      ...[chain, at, after],
      fresh.map(({ content }) => content),
      Buffer.concat([...shapes.keys()].map(({ digest }) => digest)),
      Buffer.concat(parts.flat()),
      Buffer.concat(entries.map(({ hash }) => hash)),
      ...[0, 1, 2, 3].map((column) => arrayText(places.map((place) => place[column] ?? 0))),
      arrayText(entries.map(({ shape }) => (shape && shapes.get(shape)) ?? null)),
      entries.map(({ message_id }) => message_id),
      entries.map(({ reply_message_id }) => reply_message_id),
      arrayText(entries.map(({ keys }) => `"{${keys.join()}}"`)),
      arrayText(entries.map(({ correlation_id }) => correlation_id)),
      arrayText(entries.map(({ emergency }) => emergency)),
      ...statement.values,
    ],
  })
  const [row] = rows
  if (row === undefined) throw new Error('unreachable: the statement answers one row')
  const { at: time, held } = row
  const unheld = joints.flatMap(({ write: { name }, places }) =>
    places.filter((_, at) => held !== null && held[name]?.includes(at + 1) !== true),
  )
  return { at: time, unheld }
}

/** An array as PostgreSQL's text. A comma may stand in a value only within quotation marks. */
const arrayText = (values: readonly (number | string | boolean | null)[]): string =>
  `{${values.map((value) => value ?? 'null').join()}}`
