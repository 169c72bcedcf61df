/** The plans of MariaDB and MySQL: which read a whole table, and the index that would help. */

import type { QueryPlanDialect } from '../engine/dialect.ts'
import type { ResultColumn } from './connections.ts'
import { MARIADB_NAME_WRITER } from './names.ts'

export const PLAN_READER: QueryPlanDialect<ResultColumn> = {
  prefer: null,
  explain: 'explain',
  // The columns of a plan differ between servers.
  readsAll({ rows, names }) {
    const [access, usable, table] = ['type', 'possible_keys', 'table'].map((name) => names.indexOf(name))
    return rows.some(
      (row) =>
        /^(?:ALL|index)$/.test(row[access ?? -1] ?? '') &&
        (row[usable ?? -1] ?? null) === null &&
        // A row whose table begins with `<` is a subquery; its tables have rows of their own.
        !(row[table ?? -1] ?? '').startsWith('<'),
    )
  },
  // MariaDB has no index on an expression; a generated column can have one.
  indexOn: (place, column, asked) =>
    asked?.test.is === 'digits'
      ? null
      : `create index ${MARIADB_NAME_WRITER.quoted(`rollcall_${column}`)} on ${MARIADB_NAME_WRITER.placeOf(place)} (${MARIADB_NAME_WRITER.quoted(column)});`,
}
