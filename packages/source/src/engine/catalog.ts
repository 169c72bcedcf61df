/** The tables and views of a source, as the catalog of its database describes them. */

import type { ColumnType } from './column-type.ts'
import type { DatabaseSnapshot } from './connections.ts'

export interface CatalogColumn {
  readonly name: string
  /** The type in the words of the database, such as `varchar(20)`. */
  readonly type: string
  readonly holds: ColumnType['holds']
  readonly isNullable: boolean
  /** True when this column alone identifies a row: it is never null, and has a unique index of its own. */
  readonly isUnique: boolean
  /** True when a key of records may have the type of this column. */
  readonly isKey: boolean
}

/** A column with a foreign key on this column alone, and the column to which it refers. */
export interface CatalogReference {
  readonly column: string
  readonly to: { readonly schema: string; readonly table: string; readonly column: string }
}

/** A table or a view that the account may read, with the columns that it may read. */
export interface CatalogTable {
  readonly schema: string
  readonly name: string
  readonly isView: boolean
  /** The estimated number of rows; 0: none, or unknown. */
  readonly rows: number
  readonly columns: readonly CatalogColumn[]
  /** The one column of the primary key; null when it has several columns, or there is none. */
  readonly key: string | null
  readonly references: readonly CatalogReference[]
}

type CatalogRow = readonly (string | null)[]

/** The statements of an engine that read the catalog. */
export interface CatalogSql {
  /**
   * Reads a row for each column, with these values: schema, table, `true` for a view, estimated number of rows of the table,
   * column, type, the type as `valueKindOf` needs it, `true` if the column may be null, `true` if it alone is the primary key,
   * `true` if it has a unique index of its own.
   */
  readonly columns: string
  /** Reads schema, table and column of each foreign key with one column; then schema, table and column to which it refers. */
  readonly references: string
  readonly valueKindOf: (type: string) => ColumnType['holds']
}

/** Reads the tables and views that the account may read. */
export async function readCatalog<Type>(
  state: Pick<DatabaseSnapshot<Type>, 'run'>,
  { columns, references: ofKeys, valueKindOf }: CatalogSql,
): Promise<readonly CatalogTable[]> {
  const { rows: columnRows } = await state.run({ text: columns, values: [] })
  const { rows: references } = await state.run({ text: ofKeys, values: [] })
  const tables = Map.groupBy(columnRows, (row) => JSON.stringify(row.slice(0, 2)))
  return [...tables].map(([place, rows]) => {
    const [[schema, name, isView, count] = []] = rows
    return {
      schema: schema ?? '',
      name: name ?? '',
      isView: isView === 'true',
      rows: Number(count),
      columns: rows.map(toCatalogColumn(valueKindOf)),
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

const toCatalogColumn =
  (valueKindOf: (type: string) => ColumnType['holds']) =>
  ([, , , , name, type, held, nullable, key, unique]: CatalogRow): CatalogColumn => {
    const holds = valueKindOf(held ?? '')
    const isNullable = nullable === 'true'
    const isKey = holds === 'integer' || type === 'uuid' || (holds === 'text' && !NON_KEY_TYPE_PATTERN.test(type ?? ''))
    const isUnique = key === 'true' || (unique === 'true' && !isNullable)
    return { name: name ?? '', type: type ?? '', holds, isNullable, isUnique, isKey }
  }

/**
 * Matches types of texts that no key may have: in PostgreSQL those padded with spaces; in MariaDB and MySQL `enum`, `set` and
 * bytes.
 */
const NON_KEY_TYPE_PATTERN = /^(?:character\(|bpchar|enum|set|(?:var)?binary|\w*blob)/
