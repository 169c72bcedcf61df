/** The tables and views of a source, as its catalog tells them. */

import type { ColumnType } from './column-type.ts'

export interface CatalogColumn {
  readonly name: string
  /** As the database writes it, such as `varchar(20)`. */
  readonly type: string
  readonly holds: ColumnType['holds']
  readonly isNullable: boolean
}

/** A column whose values are keys of another table, by a foreign key of this column alone. */
export interface CatalogReference {
  readonly column: string
  readonly to: { readonly schema: string; readonly table: string; readonly column: string }
}

/** A table or a view that the account may read, with the columns that it may read. */
export interface CatalogTable {
  readonly schema: string
  readonly name: string
  readonly isView: boolean
  /** About how many rows it has, as the database remembers it; 0: it does not know. */
  readonly rows: number
  readonly columns: readonly CatalogColumn[]
  /** The column that is its primary key alone; null: there is none. */
  readonly key: string | null
  readonly references: readonly CatalogReference[]
}

type Texts = readonly (string | null)[]

/**
 * @param columns a row for each column, in order: schema, table, `true` for a view, rows, column, type, what holdsOf needs, `true` where
 * it may be empty, `true` where it is the primary key alone
 * @param references schema, table and column, and those to which they refer
 */
export function tablesOf(
  columns: readonly Texts[],
  references: readonly Texts[],
  holdsOf: (type: string) => ColumnType['holds'],
): readonly CatalogTable[] {
  const tables = new Map<string, readonly Texts[]>()
  for (const row of columns) {
    const name = JSON.stringify(row.slice(0, 2))
    tables.set(name, [...(tables.get(name) ?? []), row])
  }
  return [...tables].map(([place, rows]) => {
    const [[schema, name, isView, count] = []] = rows
    return {
      schema: schema ?? '',
      name: name ?? '',
      isView: isView === 'true',
      rows: Number(count),
      columns: rows.map((row) => ({
        name: row[4] ?? '',
        type: row[5] ?? '',
        holds: holdsOf(row[6] ?? ''),
        isNullable: row[7] === 'true',
      })),
      key: rows.find((row) => row[8] === 'true')?.[4] ?? null,
      references: references
        .filter((row) => JSON.stringify(row.slice(0, 2)) === place)
        .map(([, , column, toSchema, table, to]) => ({
          column: column ?? '',
          to: { schema: toSchema ?? '', table: table ?? '', column: to ?? '' },
        })),
    }
  })
}
