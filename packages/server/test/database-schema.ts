/** What a database is made of, read from its catalog: statements that make it again, and lines that can be compared. */
import type pg from 'pg'

interface Column {
  readonly table: string
  readonly name: string
  /** As `create table` wants it, without the name. */
  readonly definition: string
  /** Whether its values are computed by PostgreSQL from others. */
  readonly generated: boolean
}

interface Statement {
  readonly of: string
  readonly statement: string
}

export interface DatabaseSchema {
  /** In the order of their names. */
  readonly tables: readonly { readonly table: string; readonly create: string; readonly rest: string }[]
  readonly columns: readonly Column[]
  /** What is made when the rows are there: constraints, those that others refer to first, and indexes. */
  readonly afterwards: readonly Statement[]
  readonly functions: readonly string[]
}

/** Of the schema `public`. */
export async function readSchema(client: pg.ClientBase): Promise<DatabaseSchema> {
  const read = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
    (await client.query<Row>(text)).rows
  const tables = await read<DatabaseSchema['tables'][number]>(TABLES)
  const columns = await read<Column>(COLUMNS)
  const afterwards = [...(await read<Statement>(CONSTRAINTS)), ...(await read<Statement>(INDEXES))]
  const functions = (await read<{ text: string }>(FUNCTIONS)).map(({ text }) => text)
  return { tables, columns, afterwards, functions }
}

/** Statements that make the tables, before any row is there. */
export function createTables({ tables, columns }: DatabaseSchema): readonly string[] {
  return tables.map(({ table, create, rest }) => {
    const own = columns.filter((column) => column.table === table)
    const lines = own.map(({ name, definition }) => `  ${name} ${definition}`)
    return `${create} ${table} (\n${lines.join(',\n')}\n)${rest};`
  })
}

/**
 * One line for each part, sorted: two databases that behave the same have the same lines, in whatever order their
 * columns were added.
 * @param isCompared of the name of a table
 */
export function schemaLines(
  schema: DatabaseSchema,
  isCompared: (table: string) => boolean,
): readonly string[] {
  const lines = [
    ...schema.tables.map(({ table, create, rest }) => ({ of: table, line: `${create} ${table}${rest}` })),
    ...schema.columns.map(({ table, name, definition }) => ({
      of: table,
      line: `${table}.${name} ${definition}`,
    })),
    ...schema.afterwards.map(({ of, statement }) => ({ of, line: statement })),
  ].filter(({ of }) => isCompared(of))
  // A condition that was read back has other parentheses than one that was written by hand.
  return [...lines.map(({ line }) => line), ...schema.functions]
    .map((line) => line.replace(/[()]/g, ''))
    .sort()
}

const IN_PUBLIC = "relnamespace = 'public'::regnamespace"

const TABLES = `select quote_ident(relname) as table,
    case relpersistence when 'u' then 'create unlogged table' else 'create table' end as create,
    coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '') as rest
  from pg_class where ${IN_PUBLIC} and relkind = 'r' order by relname collate "C"`

const COLUMNS = `select quote_ident(relname) as table, quote_ident(attname) as name, attgenerated <> '' as generated,
    concat_ws(' ', format_type(atttypid, atttypmod),
      case when attcollation <> typcollation then 'collate ' || quote_ident(collname) end,
      case when attidentity = 'a' then 'generated always as identity' end,
      case when attgenerated = 's' then 'generated always as (' || pg_get_expr(adbin, adrelid) || ') stored'
        when adbin is not null then 'default ' || pg_get_expr(adbin, adrelid) end,
      case when attnotnull then 'not null' end) as definition
  from pg_class join pg_attribute on attrelid = pg_class.oid join pg_type on pg_type.oid = atttypid
    left join pg_collation on pg_collation.oid = attcollation
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where ${IN_PUBLIC} and relkind = 'r' and attnum > 0 and not attisdropped order by relname collate "C", attnum`

// From PostgreSQL 18 on, that a column is not null is a constraint as well.
const CONSTRAINTS = `select quote_ident(relname) as of, format('alter table %I add constraint %I %s;', relname, conname,
    pg_get_constraintdef(pg_constraint.oid)) as statement
  from pg_constraint join pg_class on pg_class.oid = conrelid
  where ${IN_PUBLIC} and contype in ('p', 'u', 'c', 'f')
  order by position(contype::text in 'pucf'), relname collate "C", conname collate "C"`

const INDEXES = `select quote_ident(tablename) as of, indexdef || ';' as statement from pg_indexes
  where schemaname = 'public' and not exists (select from pg_constraint where conindid = format('%I', indexname)::regclass
    and contype in ('p', 'u'))
  order by tablename collate "C", indexname collate "C"`

const FUNCTIONS = `select pg_get_functiondef(oid) || ';' as text from pg_proc
  where pronamespace = 'public'::regnamespace order by proname collate "C"`
