/** Statements that find changed rows by a column that grows with every change: a time or a version. */

import type { ColumnType } from '../engine/column-type.ts'
import type { Statement } from '../engine/connections.ts'
import type { PollColumnTypes, PollStatements } from '../engine/dialect.ts'
import type { ChangeSelection } from '../engine/engine.ts'
import type { MappedTable } from '../engine/mapped-records.ts'
import { changedRowsSql } from '../engine/names.ts'
import { createParameters as parametersOf } from './conditions.ts'
import { MARIADB_NAME_WRITER } from './names.ts'

export const POLL_STATEMENTS: PollStatements = { mark: makeMarkStatement, list: makeChangedRowsStatement }

/** Makes the statement that reads how far the column has come: the time now, or the highest version. */
function makeMarkStatement(part: MappedTable, { changed: type }: PollColumnTypes): Statement {
  const { changed, rows } = changedRowsSql(MARIADB_NAME_WRITER, part)
  return {
    text:
      type.holds === 'integer'
        ? `select cast(coalesce(max(${changed}), 0) as char) from ${rows}`
        : 'select cast(unix_timestamp(now(6)) as char)',
    values: [],
  }
}

function makeChangedRowsStatement(
  part: MappedTable,
  { key: keyType, changed: type }: PollColumnTypes,
  { since, overlap, after, limit }: ChangeSelection,
): Statement {
  const parameters = parametersOf()
  const { key, changed, rows } = changedRowsSql(MARIADB_NAME_WRITER, part)
  const sql = type.holds === 'instant' ? 'cast(? as datetime(6))' : type.sql
  const conditions = [`${changed} >= ${parameters.add(firstChangeValueToList(type, since, overlap), sql)}`, `${key} is not null`]
  if (after !== null) {
    const [later, same] = [parameters.add(after.mark, sql), parameters.add(after.mark, sql)]
    conditions.push(`(${changed} > ${later} or (${changed} = ${same} and ${key} > ${parameters.add(after.key, keyType.sql)}))`)
  }
  return {
    text: `select ${keyType.read(key)}, ${type.read(changed)} from ${rows} where ${conditions.join(' and ')}
      order by ${changed}, ${key} limit ${Math.trunc(limit)}`,
    values: parameters.values,
  }
}

/** Seconds by which clocks are set back at the end of summer time: times without a zone then occur twice. */
const SUMMER_TIME_SHIFT_SECONDS = 3_600

/**
 * The column's value from which rows are listed: `since` less the overlap; for local times less `SUMMER_TIME_SHIFT_SECONDS` too.
 */
function firstChangeValueToList(type: ColumnType, since: string, overlap: number): string {
  if (type.holds === 'integer') {
    const from = BigInt(since) - BigInt(Math.ceil(overlap))
    // The cast to unsigned would make a negative bound a very large number.
    return from < 0n && type.sql.includes('unsigned') ? '0' : String(from)
  }
  const from = utcTimeText(Number(since) - overlap)
  const local = type.parameter(from)
  return local === null || local === from
    ? from
    : utcTimeText(Date.parse(`${local.replace(' ', 'T')}Z`) / 1_000 - SUMMER_TIME_SHIFT_SECONDS)
}

const utcTimeText = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')
