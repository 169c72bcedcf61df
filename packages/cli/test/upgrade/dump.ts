/** A database as a text that `restore` reads: its tables, their rows as COPY writes them, and what is made afterwards. */

import { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { runMigrations } from 'graphile-worker'
import pg from 'pg'
import { from, to } from 'pg-copy-streams'
import { createTables, OTHER_SCHEMA, readSchema } from '../../../database/test/database-schema.ts'

/**
 * The queue of versions before migration 0018, of which the rows alone are kept: graphile-worker makes its tables. A table
 * it fills itself is not among them.
 */
const JOB_TABLES = ['_private_job_queues', '_private_tasks', '_private_jobs'].map((table) => `graphile_worker.${table}`)

/** The text of a database in which nothing goes on. */
export async function dumpDatabase(client: pg.ClientBase): Promise<string> {
  await client.query("set search_path = 'public'")
  const schema = await readSchema(client)
  const hasOther = schema.tables.some(({ table }) => table.startsWith(`${OTHER_SCHEMA}.`))
  const sections = [...(hasOther ? [`create schema ${OTHER_SCHEMA};`] : []), ...createTables(schema)]
  for (const table of [...schema.tables.map((row) => row.table), ...(await jobTables(client))]) {
    const names = await columnsOf(client, table)
    const rows = await textOf(client.query(to(`copy ${table} (${names}) to stdout`)))
    if (rows !== '') sections.push(`copy ${table} (${names}) from stdin;\n${rows}\\.`)
  }
  const { rows } = await client.query<{ statement: string }>(SEQUENCES)
  sections.push(...rows.map(({ statement }) => statement))
  sections.push(...schema.afterwards.map(({ statement }) => statement), ...schema.functions)
  // The last ones: the rows are what triggers have made of them.
  sections.push(...schema.triggers.map(({ statement }) => statement))
  return `${sections.join('\n\n')}\n`
}

async function jobTables(client: pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query<{ there: boolean }>(`select to_regnamespace('graphile_worker') is not null as there`)
  return rows[0]?.there === true ? JOB_TABLES : []
}

/** The columns of a table that are written. Generated columns are computed. */
async function columnsOf(client: pg.ClientBase, table: string): Promise<string> {
  const { rows } = await client.query<{ names: string }>(
    `select string_agg(quote_ident(attname), ', ' order by attnum) as names from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    [table],
  )
  return rows[0]?.names ?? ''
}

const SEQUENCES = `select format('select setval(%L, %s);', format('%I.%I', schemaname, sequencename), last_value) as statement
  from pg_sequences where last_value is not null
    and (schemaname in ('public', '${OTHER_SCHEMA}') or (schemaname = 'graphile_worker' and sequencename like '%jobs%'))
  order by schemaname, sequencename`

/** Makes what `dumpDatabase` has read, in an empty database. */
export async function restoreDatabase(connection: pg.ClientConfig, dump: string): Promise<void> {
  const pool = new pg.Pool({ ...connection, max: 1 })
  try {
    if (dump.includes('copy graphile_worker.')) await runMigrations({ pgPool: pool })
    const client = await pool.connect()
    try {
      for (const section of sectionsOf(dump)) await restoreSection(client, section)
    } finally {
      client.release()
    }
  } finally {
    await pool.end()
  }
}

/** Lines that begin with two hyphens, before anything else, are for people. */
const sectionsOf = (dump: string): readonly string[] =>
  dump.replace(/^(--.*\n)+/, '').split(/\n\n(?=create |copy |select setval|alter |CREATE )/)

async function restoreSection(client: pg.ClientBase, section: string): Promise<void> {
  const copy = /^(copy .*);\n([\s\S]*?)\\\.\s*$/.exec(section)
  if (copy === null) await client.query(section)
  else await pipeline(Readable.from([copy[2] ?? '']), client.query(from(copy[1] ?? '')))
}
