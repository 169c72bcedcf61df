/** The SQL of PostgreSQL for the statement that reads rows. */

import { MOST_CHILD_ROWS, type RowSqlWriter } from '../engine/row-statement.ts'
import { columnCondition, conditionOf, createParameters, oneOfSql } from './conditions.ts'
import { POSTGRESQL_NAME_WRITER } from './names.ts'

export const ROW_SQL: RowSqlWriter = {
  names: POSTGRESQL_NAME_WRITER,
  conditions: { conditionOf, columnCondition },
  parameters: createParameters,
  oneOf: (column, texts, { sql }, collected) => oneOfSql(column, texts, sql, collected),
  limit: (rows, collected) => collected.add(rows, 'int4'),
  childRows: (cells, from, condition) =>
    `select json_agg(one)::text from (select json_build_array(${cells.join(', ')}) as one from ${from} where ${condition} limit ${MOST_CHILD_ROWS + 1}) as few`,
  readChildRows: (text) => (text === null ? [] : JSON.parse(text)),
}
