/** Parts of statements whose columns are known only at run time. Column names come from our code, never from a peer. */
import { type RawBuilder, sql } from 'kysely'

type ValuesOfOneRow = Readonly<Record<string, unknown>>

/** The columns whose value is not undefined, each with its value. */
const columnsWithDefinedValue = (values: ValuesOfOneRow) => Object.entries(values).filter(([, value]) => value !== undefined)

/** SQL such as `a = 1, b = 2`, for `set`. */
export const assignmentsSql = (values: ValuesOfOneRow): RawBuilder<unknown> =>
  sql.join(columnsWithDefinedValue(values).map(([column, value]) => sql`${sql.ref(column)} = ${value}`))

/** SQL such as `(a, b) values (1, 2)`, for `insert into`. */
export function valuesSql(values: ValuesOfOneRow): RawBuilder<unknown> {
  const entries = columnsWithDefinedValue(values)
  const columns = sql.join(entries.map(([column]) => sql.ref(column)))
  return sql`(${columns}) values (${sql.join(entries.map(([, value]) => sql`${value}`))})`
}
