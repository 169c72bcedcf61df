/** Reads the tables and views that an account of PostgreSQL may read. */

import type { CatalogSql } from '../engine/catalog.ts'
import { columnType } from './column-types.ts'

const LIST_CATALOG_COLUMNS = `select nspname, relname, (relkind in ('v', 'm'))::text, greatest(reltuples, 0)::int8, attname,
    format_type(atttypid, atttypmod), coalesce(nullif(typbasetype, 0), pg_type.oid)::int8, (not attnotnull)::text,
    exists (select from pg_constraint where conrelid = pg_class.oid and contype = 'p' and conkey = array[attnum])::text,
    exists (select from pg_index where indrelid = pg_class.oid and indisunique and indisvalid and indnkeyatts = 1 and indkey[0] = attnum
      and indpred is null and indexprs is null)::text
  from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
    join pg_type on pg_type.oid = atttypid
  where relkind in ('r', 'p', 'v', 'm', 'f') and not relispartition and nspname not like 'pg\\_%' and nspname <> 'information_schema'
    and has_schema_privilege(pg_namespace.oid, 'usage') and has_column_privilege(pg_class.oid, attnum, 'select')
  order by nspname, relname, attnum`

const LIST_FOREIGN_KEYS = `select own.nspname, child.relname, one.attname, target.nspname, parent.relname, other.attname
  from pg_constraint join pg_class as child on child.oid = conrelid join pg_namespace as own on own.oid = child.relnamespace
    join pg_class as parent on parent.oid = confrelid join pg_namespace as target on target.oid = parent.relnamespace
    join pg_attribute as one on one.attrelid = conrelid and one.attnum = conkey[1]
    join pg_attribute as other on other.attrelid = confrelid and other.attnum = confkey[1]
  where contype = 'f' and cardinality(conkey) = 1`

export const CATALOG_STATEMENTS: CatalogSql = {
  columns: LIST_CATALOG_COLUMNS,
  references: LIST_FOREIGN_KEYS,
  valueKindOf: (oid) => columnType(Number(oid)).holds,
}
