/** The pieces of the statement that reads rows, as MariaDB and MySQL have them. */

import { MOST_CHILDREN, type RowSql } from '../engine/row-statement.ts'
import { columnCondition, conditionOf, oneOf, parameters } from './conditions.ts'
import { NAMES } from './names.ts'

export const ROW_SQL: RowSql = {
  names: NAMES,
  conditions: { conditionOf, columnCondition },
  parameters,
  oneOf,
  // A prepared statement of MySQL takes no limit that was sent as another type than a whole number.
  limit: (rows) => String(Math.trunc(rows)),
  // A list that is too long is cut without an error: the number of its rows stands before it.
  childRows: (cells, from, condition) =>
    `select concat(count(*), ' ', if(count(*) > ${MOST_CHILDREN}, '', coalesce(group_concat(json_array(${cells.join(', ')}) separator ','), ''))) from ${from} where ${condition}`,
  readChildRows(text) {
    // The number is always there: the text was longer than a packet.
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
