/** Writes rows of one package in a statement that another package runs. */

/** Gives the SQL of a parameter, by its place (from 0) in the values of a write. */
export type GiveParameterSql = (place: number) => string

/**
 * How rows of one table are written in the same statement as rows of another package, such as an exchange and the audit
 * entry of its acknowledgement: all are committed or none. Two writes with the same `name` must be equal.
 */
export interface JointWrite<Row> {
  readonly name: string
  /**
   * SQL of common table expressions that lock the rows. `<name>_held` has the number, from 1, of each row that exists or can be
   * written. The SQL must not wait for another writer.
   */
  held(parameter: GiveParameterSql): string
  /**
   * SQL of common table expressions that write the missing rows, if `(select held from joint)` is true. Absent when
   * there is nothing to write.
   */
  written?(parameter: GiveParameterSql): string
  /** Returns the values of the write's parameters. Their number is the same for any rows. */
  values(rows: readonly Row[]): readonly unknown[]
  /** Returns a simpler write that is enough for these rows; null when there is none. */
  simpler?(rows: readonly Row[]): JointWrite<Row> | null
}

/** Names the parameters of a write that runs as a statement of its own: `$1` for place 0. */
export const ownStatementParameterSql: GiveParameterSql = (place) => `$${place + 1}`
