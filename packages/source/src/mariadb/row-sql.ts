/** The SQL of MariaDB and MySQL for the statement that reads rows. */

import { MOST_CHILD_ROWS, type RowSqlWriter } from '../engine/row-statement.ts'
import { columnCondition, conditionOf, createParameters, oneOfSql } from './conditions.ts'
import { MARIADB_NAME_WRITER } from './names.ts'

export const ROW_SQL: RowSqlWriter = {
  names: MARIADB_NAME_WRITER,
  conditions: { conditionOf, columnCondition },
  parameters: createParameters,
  oneOf: oneOfSql,
  // The limit is a whole number: MySQL refuses a fraction here.
  limit: (rows) => String(Math.trunc(rows)),
  // The database cuts a list that is too long without an error, so the number of rows is written before the list.
  childRows: (cells, from, condition) =>
    `select concat(count(*), ' ', if(count(*) > ${MOST_CHILD_ROWS}, '', coalesce(group_concat(json_array(${cells.join(', ')}) separator ','), ''))) from ${from} where ${condition}`,
  readChildRows(text) {
    // The database returns null when the text would be longer than a packet may be.
    if (text === null) return null
    const at = text.indexOf(' ')
    let rows: (string | null)[][]
    try {
      rows = JSON.parse(`[${text.slice(at + 1)}]`)
    } catch {
      return null
    }
    return rows.length === Number(text.slice(0, at)) ? rows : null
  },
}
