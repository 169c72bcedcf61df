/**
 * How tables store the ids of records. An id that is a whole number of at most 18 digits, as in our own tables, is stored as a
 * number. Any other id is stored as text (`record_key`), with a negative number from its digest (`record`) for the index.
 */
import { createHash } from 'node:crypto'

/** Matches a record id that is stored as a number. */
const NUMERIC_ID_PATTERN = /^(?:0|[1-9][0-9]{0,17})$/

/** The values of the columns `record` (bigint) and `record_key` (text) for one id. */
export interface StoredRecordId {
  readonly record: string
  /** The id as text; null when the id is a number, which `record` has. */
  readonly record_key: string | null
}

/** Turns a record id into the values of its two columns. */
export function toStoredRecordId(id: string): StoredRecordId {
  if (NUMERIC_ID_PATTERN.test(id)) return { record: id, record_key: null }
  const digest = createHash('sha256').update(id).digest().readBigInt64BE()
  return { record: String(digest < 0n ? digest : ~digest), record_key: id }
}

/**
 * The ids as one array in text form. If all are numbers, `record_ids` (bigint[]) has them and `record_keys` is null; else
 * `record_keys` (text[]) has them and `record_ids` is empty.
 */
export function toStoredIdArrays(ids: readonly string[]): { readonly record_ids: string; readonly record_keys: string | null } {
  if (ids.every((id) => NUMERIC_ID_PATTERN.test(id))) return { record_ids: `{${ids.join(',')}}`, record_keys: null }
  const quoted = ids.map((id) => `"${id.replaceAll(/["\\]/g, '\\$&')}"`)
  return { record_ids: '{}', record_keys: `{${quoted.join(',')}}` }
}

/** SQL of the record id in a row. @param row SQL of the row, with `record` and `record_key` */
export const recordIdSql = (row: string): string => `coalesce(${row}.record_key, ${row}.record::text)`

/** SQL that is true when two rows have the same record id. @param one,other SQL of rows */
export const isSameRecordSql = (one: string, other: string): string =>
  `(${one}.record = ${other}.record and ${one}.record_key is not distinct from ${other}.record_key)`

/** SQL that does the same as `toStoredRecordId`. @param id SQL of an id as text */
export const toStoredIdSql = (id: string): { readonly record: string; readonly record_key: string } => {
  const digest = `('x' || encode(substring(sha256(convert_to(${id}, 'UTF8')) for 8), 'hex'))::bit(64)::bigint`
  return {
    record: `case when ${id} ~ '${NUMERIC_ID_PATTERN.source.replace('(?:', '(')}' then ${id}::bigint when ${digest} < 0 then ${digest} else ~${digest} end`,
    record_key: `case when ${id} !~ '${NUMERIC_ID_PATTERN.source.replace('(?:', '(')}' then ${id} end`,
  }
}
