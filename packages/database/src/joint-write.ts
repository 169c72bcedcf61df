/** Writes rows of one package in a statement that another package runs. */

/** Gives the SQL of a parameter, by its place (from 0) in the values of a write. */
export type ParameterSql = (place: number) => string

/**
 * How rows of one table are written in the same statement as the audit entries about them. Here a row is held when the SQL of
 * `held` has locked, inserted or found it (the state `held` of a delivery is another thing). If all rows are held, all is
 * committed together. If one row is not held, no entry is written, and the statement is sent again without that row and its
 * entry. Rows that `held` has inserted stay. Writes with the same `name` must have the same SQL.
 */
export interface JointWrite<Row> {
  readonly name: string
  /**
   * SQL of common table expressions that lock existing rows, or insert new ones. The expression `<name>_held` has the column
   * `number`: for each held row, its place in `rows`, counted from 1. The SQL must not wait for a lock of an existing row. An
   * insert may wait for another transaction that inserts the same key.
   */
  held(parameter: ParameterSql): string
  /**
   * SQL of common table expressions that write what `held` did not insert. `(select held from joint)` is true when all rows of
   * the statement are held. Only then the audit entries are written, so a change that must have its entry needs this condition. A
   * change that belongs to inserted rows, such as their count, has no condition. Absent when there is nothing to write.
   */
  written?(parameter: ParameterSql): string
  /** Returns the values of the write's parameters. Their number is the same for any rows. */
  values(rows: readonly Row[]): readonly unknown[]
  /** Returns the write to use in place of this one, if it stores these rows with fewer parts; null: this write is used. */
  simpler?(rows: readonly Row[]): JointWrite<Row> | null
}

/** Names the parameters of a write that runs as a statement of its own: `$1` for place 0. */
export const separateWriteParameterSql: ParameterSql = (place) => `$${place + 1}`
