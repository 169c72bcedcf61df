/** Statements that find changed rows by a column that grows with every change: a time or a version. */

import type { Statement } from '../engine/connections.ts'
import type { PollColumnTypes, PollStatements } from '../engine/dialect.ts'
import type { ChangeSelection } from '../engine/engine.ts'
import type { MappedTable } from '../engine/mapped-records.ts'
import { changedRowsSql } from '../engine/names.ts'
import { createParameters as parametersOf } from './conditions.ts'
import { POSTGRESQL_NAME_WRITER } from './names.ts'

export const POLL_STATEMENTS: PollStatements = { mark: makeMarkStatement, list: makeChangedRowsStatement }

/** SQL of the time up to which the snapshot has changes: on a standby, the time of the last replayed transaction. */
const SNAPSHOT_TIME_SQL = `case when pg_is_in_recovery() then coalesce(pg_last_xact_replay_timestamp(), to_timestamp(0)) else now() end`

/** Makes the statement that reads how far the column has come: the time of the snapshot, or the highest version. */
function makeMarkStatement(part: MappedTable, { changed: type }: PollColumnTypes): Statement {
  const { changed, rows } = changedRowsSql(POSTGRESQL_NAME_WRITER, part)
  return {
    text:
      type.holds === 'integer'
        ? `select coalesce(max(${changed}), 0)::text from ${rows}`
        : `select extract(epoch from ${SNAPSHOT_TIME_SQL})::text`,
    values: [],
  }
}

function makeChangedRowsStatement(
  part: MappedTable,
  { key: keyType, changed: type }: PollColumnTypes,
  { since, overlap, after, limit }: ChangeSelection,
): Statement {
  const parameters = parametersOf()
  const { key, changed, rows } = changedRowsSql(POSTGRESQL_NAME_WRITER, part)
  const from =
    type.holds === 'integer'
      ? `${parameters.add(String(BigInt(since) - BigInt(Math.ceil(overlap))), 'int8')}`
      : // A time of whole seconds is before the mark of its own second.
        `to_timestamp(floor(${parameters.add(since, 'float8')} - ${parameters.add(overlap, 'float8')}))::${type.sql}`
  const conditions = [`${changed} >= ${from}`, `${key} is not null`]
  if (after !== null) {
    const place = [parameters.add(after.mark, type.sql), parameters.add(after.key, keyType.sql)]
    conditions.push(`(${changed}, ${key}) > (${place.join(', ')})`)
  }
  return {
    text: `select ${key}::text, ${changed}::text from ${rows} where ${conditions.join(' and ')}
      order by ${changed}, ${key} limit ${parameters.add(limit, 'int4')}`,
    values: parameters.values,
  }
}
