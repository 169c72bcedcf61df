/** Reads the tables and views that an account may read, of the database in the address or of all databases. */

import type { CatalogSql } from '../engine/catalog.ts'
import { valueKindOf } from './column-types.ts'

const SYSTEM_SCHEMAS = `'information_schema', 'mysql', 'performance_schema', 'sys'`

const LIST_CATALOG_COLUMNS = `select c.table_schema, c.table_name, if(t.table_type like '%VIEW', 'true', 'false'),
    cast(coalesce(t.table_rows, 0) as char), c.column_name, c.column_type, c.data_type, if(c.is_nullable = 'YES', 'true', 'false'),
    if(c.column_key = 'PRI' and 1 = (
      select count(*) from information_schema.statistics s
      where s.table_schema = c.table_schema and s.table_name = c.table_name and s.index_name = 'PRIMARY'), 'true', 'false'),
    if(c.column_key = 'UNI', 'true', 'false')
  from information_schema.columns c join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
  where c.table_schema not in (${SYSTEM_SCHEMAS}) and c.table_schema = coalesce(database(), c.table_schema) and c.privileges like '%select%'
  order by c.table_schema, c.table_name, c.ordinal_position`

const LIST_FOREIGN_KEYS = `select table_schema, table_name, min(column_name), min(referenced_table_schema), min(referenced_table_name),
    min(referenced_column_name)
  from information_schema.key_column_usage
  where referenced_table_name is not null
  group by table_schema, table_name, constraint_name having count(*) = 1`

export const CATALOG_STATEMENTS: CatalogSql = { columns: LIST_CATALOG_COLUMNS, references: LIST_FOREIGN_KEYS, valueKindOf }
