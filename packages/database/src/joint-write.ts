/** Rows that the owner of their table has written in a statement of another package. */

/** SQL of a parameter, by its place in the values of a write, from 0. */
export type Parameter = (place: number) => string

/**
 * How rows of one sort are written together with rows of another package, such as an exchange with the account of its
 * acknowledgement: all that the statement brings is committed, or none of it. Two writes with the same `name` are the same.
 */
export interface JointWrite<Row> {
  readonly name: string
  /**
   * Common table expressions. The one called `<name>_held` has the number, from 1, of each row that is written already, or can be:
   * it must lock what it decides by, and may wait for nobody.
   */
  held(parameter: Parameter): string
  /** Common table expressions that write what is not written yet; nothing unless `(select held from joint)` is true. */
  written(parameter: Parameter): string
  /** The values of the parameters: always as many, whatever the rows are. */
  values(rows: readonly Row[]): readonly unknown[]
}

/** The parameters of a statement of its own. */
export const ownParameter: Parameter = (place) => `$${place + 1}`
