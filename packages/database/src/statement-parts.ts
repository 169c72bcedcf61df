/** Parts of statements whose columns are known only at run time. Their names come from our code, never from a peer. */
import { type RawBuilder, sql } from 'kysely'

type Values = Readonly<Record<string, unknown>>

/** Leaves out undefined members. */
const given = (values: Values) => Object.entries(values).filter(([, value]) => value !== undefined)

/** `a = 1, b = 2`, for `set`. */
export const assignments = (values: Values): RawBuilder<unknown> =>
  sql.join(given(values).map(([column, value]) => sql`${sql.ref(column)} = ${value}`))

/** `(a, b) values (1, 2)`, for `insert into`. */
export function rowOf(values: Values): RawBuilder<unknown> {
  const entries = given(values)
  const columns = sql.join(entries.map(([column]) => sql.ref(column)))
  return sql`(${columns}) values (${sql.join(entries.map(([, value]) => sql`${value}`))})`
}
