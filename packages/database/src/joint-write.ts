/** Writes rows of one package in a statement that another package runs. */

/** Gives the SQL of a parameter, by its place (from 0) in the values of a write. */
export type GiveParameterSql = (place: number) => string

/**
 * How rows of one table are written in the same statement as the audit entries about them. When all rows are held, all is
 * committed together. When one is not, no entry is written, and the statement is sent again without that row and its entry; what
 * `held` has inserted stays. Two writes with the same `name` must be equal.
 */
export interface JointWrite<Row> {
  readonly name: string
  /**
   * SQL of common table expressions that lock existing rows, or insert new ones. `<name>_held` has the number, from 1, of each row
   * that may be written or is stored. The SQL must not wait for a lock of an existing row. An insert may wait for another
   * transaction that inserts the same key.
   */
  held(parameter: GiveParameterSql): string
  /**
   * SQL of common table expressions that write what `held` did not insert. What belongs to the entries is written only if
   * `(select held from joint)` is true; what belongs to inserted rows, such as their count, always. Absent when there is nothing to
   * write.
   */
  written?(parameter: GiveParameterSql): string
  /** Returns the values of the write's parameters. Their number is the same for any rows. */
  values(rows: readonly Row[]): readonly unknown[]
  /** Returns a simpler write that is enough for these rows; null when there is none. */
  simpler?(rows: readonly Row[]): JointWrite<Row> | null
}

/** Names the parameters of a write that runs as a statement of its own: `$1` for place 0. */
export const ownStatementParameterSql: GiveParameterSql = (place) => `$${place + 1}`
