/** The tables and views of a source, read from the catalog of its database. */

import type { ColumnType } from './column-type.ts'

export interface CatalogColumn {
  readonly name: string
  /** The type in the words of the database, such as `varchar(20)`. */
  readonly type: string
  readonly holds: ColumnType['holds']
  readonly isNullable: boolean
  /** Whether this column alone identifies a row: it is never null, and a unique index has no other column. */
  readonly isUnique: boolean
  /** Whether its type may be that of a key. */
  readonly isKey: boolean
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
  /** The estimated number of rows; 0: unknown. */
  readonly rows: number
  readonly columns: readonly CatalogColumn[]
  /** The only column of the primary key; null: there is no such column. */
  readonly key: string | null
  readonly references: readonly CatalogReference[]
}

type Texts = readonly (string | null)[]

/**
 * @param columns a row for each column, in order: schema, table, `true` for a view, rows, column, type, what holdsOf needs, `true` where
 * it may be empty, `true` where it is the primary key alone, `true` where a unique index is on it alone
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
      columns: rows.map(columnOf(holdsOf)),
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

const columnOf =
  (holdsOf: (type: string) => ColumnType['holds']) =>
  ([, , , , name, type, held, nullable, key, unique]: Texts): CatalogColumn => {
    const holds = holdsOf(held ?? '')
    const isNullable = nullable === 'true'
    const isKey = holds === 'integer' || type === 'uuid' || (holds === 'text' && !NO_KEY.test(type ?? ''))
    const isUnique = key === 'true' || (unique === 'true' && !isNullable)
    return { name: name ?? '', type: type ?? '', holds, isNullable, isUnique, isKey }
  }

/** SQL types that cannot be keys: padded texts of PostgreSQL, `enum` and `set` of MySQL and MariaDB, and bytes. */
const NO_KEY = /^(?:character\(|bpchar|enum|set|(?:var)?binary|\w*blob)/
