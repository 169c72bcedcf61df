/**
 * By which rules the columns of records were filled, how many records an import found new and what it read in them,
 * and telephone numbers by their digits alone.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

const text = sql`text collate "C"`

export const readingRules: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    // Of what is held already no rules are known: it is read anew by `rollcall index apply`.
    await db.schema
      .createTable('column_rules')
      .addColumn('registry', 'integer', (column) => column.notNull())
      .addColumn('record_type', text, (column) => column.notNull())
      .addColumn('name', text, (column) => column.notNull())
      .addColumn('rules', text, (column) => column.notNull())
      .addPrimaryKeyConstraint('column_rules_pkey', ['registry', 'record_type', 'name'])
      .execute()

    // What an interrupted import of an earlier version did was not counted so: it begins anew.
    await sql`delete from import_progress`.execute(db)
    await db.schema
      .alterTable('import_progress')
      .addColumn('inserted', 'bigint', (column) => column.notNull())
      .addColumn('read', 'jsonb', (column) => column.notNull())
      .execute()

    // Those with a plus stay beside them: nodes of the version before ask for them.
    const { rows } = await sql<{ name: string }>`
      select relname::text as name from pg_class
      where relkind = 'r' and relname ~ '^r[0-9]+_.*_identifier$' and pg_table_is_visible(oid)`.execute(db)
    for (const { name } of rows) {
      await sql`
        insert into ${sql.table(name)} ("type", "value", "record", "names_record")
        select "type", substr("value", 2), "record", "names_record" from ${sql.table(name)}
        where "type" = 'MOBILE' and "value" like '+%'
        on conflict ("type", "value", "record") do nothing`.execute(db)
    }
  },
}
