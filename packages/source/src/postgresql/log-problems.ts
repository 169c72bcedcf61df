/**
 * Finds why a replication slot would not have every change, or would harm its server, with statements that the
 * administrator can run.
 */

import { type LogProblem, makeLossProblem } from '../engine/change-log.ts'
import { type LoggedTable, loggedTables, type SourceFile } from '../engine/mapped-records.ts'
import type { PostgresSnapshot } from './connections.ts'
import { placeOf, quoted } from './names.ts'

/** Finds why the log of a PostgreSQL should not be followed as it is. */
export async function logProblems(
  state: PostgresSnapshot,
  file: SourceFile,
  publication: string,
): Promise<readonly LogProblem[]> {
  const { rows } = await state.run({ text: 'select 1 where pg_is_in_recovery()', values: [] })
  if (rows.length > 0) {
    const text = 'it is a standby, whose log is not followed: name its primary in the address, or write follow: poll'
    return [{ text, losesChanges: false }]
  }
  const tables = loggedTables(file)
  const problems = await settingProblems(state)
  const published = await hasAllChangeKinds(state, publication)
  if (published === null) {
    const names = [...new Set(tables.map(placeOf))].join(', ')
    problems.push(
      makeLossProblem(`there is no publication ${publication}: create publication ${quoted(publication)} for table ${names};`),
    )
  } else if (!published) {
    problems.push(
      makeLossProblem(
        `the publication ${publication} leaves changes out: alter publication ${quoted(publication)} set (publish = 'insert, update, delete, truncate');`,
      ),
    )
  }
  for (const table of tables) {
    problems.push(...(await tableProblems(state, table, published === null ? null : publication)))
  }
  return problems
}

async function settingProblems(state: PostgresSnapshot): Promise<LogProblem[]> {
  const { rows } = await state.run({
    text: `select current_setting('wal_level'), current_setting('max_slot_wal_keep_size'),
      (select rolreplication or rolsuper from pg_roles where rolname = current_user)::text, quote_ident(current_user)`,
    values: [],
  })
  const [level, keep, replicates, account] = rows[0] ?? []
  const problems: LogProblem[] = []
  if (level !== 'logical') {
    problems.push(makeLossProblem(`wal_level is ${level}: alter system set wal_level = logical; and start PostgreSQL again`))
  }
  if (keep === '-1') {
    // PostgreSQL then keeps more of the log, not less.
    const text = `max_slot_wal_keep_size is -1, so that a slot could fill the disk while Rollcall is down: alter system set max_slot_wal_keep_size = '10GB'; select pg_reload_conf();`
    problems.push({ text, losesChanges: false })
  }
  if (replicates !== 'true') {
    // The slot keeps the changes until the account may read them again.
    problems.push({ text: `the account may not read the log: alter role ${account} replication;`, losesChanges: false })
  }
  return problems
}

/** True when the publication has inserts, updates, deletes and truncates; null: there is no such publication. */
async function hasAllChangeKinds(state: PostgresSnapshot, publication: string): Promise<boolean | null> {
  const { rows } = await state.run({
    text: 'select (pubinsert and pubupdate and pubdelete and pubtruncate)::text from pg_publication where pubname = $1',
    values: [publication],
  })
  return rows[0] === undefined ? null : rows[0][0] === 'true'
}

/**
 * Finds why a table cannot be followed in the log as it is.
 * @param publication null: there is none. Then nothing about it is returned here, because `logProblems` does that
 */
async function tableProblems(
  state: PostgresSnapshot,
  part: LoggedTable,
  publication: string | null,
): Promise<readonly LogProblem[]> {
  const { schema, table } = part
  const name = placeOf(part)
  const { rows } = await state.run({
    text: `select relation.relkind::text, relation.relreplident::text,
        (select coalesce(rowfilter, '') || ' ' || (attnames @> array[$5::name])::text from pg_publication_tables
          where pubname = $2 and schemaname = $3 and tablename = $4),
        exists (select 1 from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
          where indrelid = relation.oid and attname = $5
            and case relreplident when 'd' then indisprimary when 'i' then indisreplident else false end)::text,
        (relreplident = 'f' or exists (select 1 from pg_index where indrelid = relation.oid
          and case relreplident when 'd' then indisprimary when 'i' then indisreplident else false end))::text
      from pg_class as relation where oid = to_regclass($1)`,
    values: [name, publication, schema, table, part.key],
  })
  const [kind, identity, published, isKeyed, hasIdentity] = rows[0] ?? []
  if (kind !== 'r')
    return [
      makeLossProblem(
        `${name} is no plain table: its changes are not in the log under its name; name in tables those that it reads, or write follow: poll`,
      ),
    ]
  const problems: LogProblem[] = []
  if (publication !== null && published === null) {
    problems.push(makeLossProblem(`${name} is not published: alter publication ${quoted(publication)} add table ${name};`))
  } else if (publication !== null && published !== ' true') {
    problems.push(makeLossProblem(`${name} is published with a condition or without ${part.key}: publish it whole`))
  }
  if (hasIdentity !== 'true') {
    const text = `${name} has no key, so that its own updates fail while it is published: give it a primary key, or alter table ${name} replica identity full;`
    // A change that the database refuses is not missing in the log.
    problems.push({ text, losesChanges: false })
  } else if (identity !== 'f' && isKeyed !== 'true') {
    problems.push(
      makeLossProblem(`a deleted row of ${name} does not tell its ${part.key}: alter table ${name} replica identity full;`),
    )
  }
  return problems
}
