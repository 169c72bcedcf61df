/** Rows that the owner of their table has written in a statement of another package. */

/** SQL of a parameter, by its place in the values of a write, from 0. */
export type Parameter = (place: number) => string

/**
 * How rows of one sort are written together with rows of another package, such as an exchange with the audit entry of
 * its acknowledgement: one statement commits all or nothing. Writes of one `name` must be equal.
 */
export interface JointWrite<Row> {
  readonly name: string
  /**
   * Common table expressions. `<name>_held` has the number, from 1, of each row that is written already or can be
   * written: it locks the rows that decide this, and may wait for nobody.
   */
  held(parameter: Parameter): string
  /** Common table expressions that write the missing rows, if `(select held from joint)` is true. Absent: none are missing. */
  written?(parameter: Parameter): string
  /** The values of the parameters: always as many, whatever the rows are. */
  values(rows: readonly Row[]): readonly unknown[]
  /** A write with less SQL that suffices for these rows; null: there is none. */
  simpler?(rows: readonly Row[]): JointWrite<Row> | null
}

/** The parameters of a statement of its own. */
export const ownParameter: Parameter = (place) => `$${place + 1}`
