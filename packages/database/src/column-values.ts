/** The values of rows by column, as the parameters of a statement with `unnest`; undefined is stored as null. */
export const groupValuesByColumn = <Row>(rows: readonly Row[], names: readonly (keyof Row)[]): unknown[][] =>
  names.map((name) => rows.map((row) => row[name]))
