/** Finds what a MariaDB and its tables lack for a binlog with every change, with statements for the administrator. */

import { type LogProblem, makeLossProblem } from '../engine/change-log.ts'
import { type LoggedTable, loggedTables, type SourceFile } from '../engine/mapped-records.ts'
import { ENCODINGS_BY_CHARSET } from './binlog-tables.ts'
import type { MariadbSnapshot } from './connections.ts'
import { MARIADB_NAME_WRITER } from './names.ts'

interface ServerSetting {
  readonly name: string
  readonly wanted: string
  /** Words that tell the source's administrator how to set the wanted value; part of a problem's sentence. */
  readonly mend: string
}

const globalSetting = (name: string, wanted: string): ServerSetting => ({
  name,
  wanted,
  mend: `set global ${name} = ${wanted}; and the same in its configuration file; sessions that are open keep their own value`,
})

const WANTED_SETTINGS: readonly ServerSetting[] = [
  { name: 'log_bin', wanted: 'ON', mend: 'write log_bin into its configuration file, and start MariaDB again' },
  globalSetting('binlog_format', 'ROW'),
  globalSetting('binlog_row_image', 'FULL'),
  globalSetting('binlog_row_metadata', 'FULL'),
  globalSetting('log_bin_compress', 'OFF'),
]

/** Finds why the binlog would miss changes, or cannot be read. */
export async function binlogProblems(state: MariadbSnapshot, file: SourceFile): Promise<readonly LogProblem[]> {
  const row = async (text: string): Promise<readonly (string | null)[]> => (await state.run({ text, values: [] })).rows[0] ?? []
  const problems: string[] = []
  for (const { name, wanted, mend } of WANTED_SETTINGS) {
    const [, found = ''] = await row(`show global variables like '${name}'`)
    if (found !== wanted) problems.push(`${name} is ${found}: ${mend}`)
  }
  const [isBlind] = await row(`select @@global.gtid_slave_pos <> '' and not @@global.log_slave_updates`)
  if (isBlind === '1') {
    problems.push('it is a replica, and its log lacks what it receives: write log_slave_updates into its configuration file')
  }
  const rights = await findRightsProblem(state)
  if (rights !== null) return [...problems.map(makeLossProblem), { text: rights, losesChanges: false }]
  const [, , logged = '', ignored = ''] = await row('show master status')
  if (`${logged}${ignored}` !== '') {
    problems.push('its log leaves databases out: take binlog_do_db and binlog_ignore_db out of its configuration file')
  }
  const [database] = await row('select database()')
  for (const table of loggedTables(file)) problems.push(...(await tableProblems(state, table, database ?? '')))
  return problems.map(makeLossProblem)
}

async function findRightsProblem(state: MariadbSnapshot): Promise<string | null> {
  const { rows } = await state.run({ text: 'show grants', values: [] })
  const everywhere = rows.map(([grant]) => grant ?? '').filter((grant) => / ON \*\.\* TO /.test(grant))
  const has = (right: RegExp) => everywhere.some((grant) => right.test(grant))
  if (has(/^GRANT ALL /) || (has(/REPLICATION SLAVE\b(?! ADMIN)/) && has(/BINLOG MONITOR|REPLICATION CLIENT/))) return null
  const { rows: accounts } = await state.run({
    text: `select concat(quote(substring_index(current_user(), '@', 1)), '@', quote(substring_index(current_user(), '@', -1)))`,
    values: [],
  })
  return `the account may not read the log: grant replication slave, replication client on *.* to ${accounts[0]?.[0]};`
}

const INTEGER_TYPES: ReadonlySet<string> = new Set(['tinyint', 'smallint', 'mediumint', 'int', 'bigint'])
/** Matches a foreign key by which the server changes rows without an event in the binlog. */
const CASCADING_FOREIGN_KEY = /^\s*CONSTRAINT .* FOREIGN KEY .* ON (?:DELETE|UPDATE) (?:CASCADE|SET (?:NULL|DEFAULT))/m

async function tableProblems(state: MariadbSnapshot, from: LoggedTable, database: string): Promise<readonly string[]> {
  const { key } = from
  const rows = async (text: string, values: readonly unknown[] = []) => (await state.run({ text, values })).rows
  const place = [from.schema ?? database, from.table]
  const [[kind, schema, table] = []] = await rows(
    'select table_type, table_schema, table_name from information_schema.tables where table_schema = ? and table_name = ?',
    place,
  )
  if (table === undefined) return [`${from.table} is not there, or the account may not read it`]
  if (kind !== 'BASE TABLE' && kind !== 'SYSTEM VERSIONED') {
    return [`${table} is no table: its changes are not in the log under its name; write follow: poll`]
  }
  const problems: string[] = []
  if ([schema, table].join('.') !== place.join('.')) {
    problems.push(`the log has ${place.join('.')} by the name ${schema}.${table}: write it so`)
  }
  const [[, definition] = []] = await rows(`show create table ${MARIADB_NAME_WRITER.placeOf(from)}`)
  if (CASCADING_FOREIGN_KEY.test(definition ?? '')) {
    problems.push(
      `a foreign key of ${table} changes its rows with those of another table, which is not in the log: write follow: poll`,
    )
  }
  const columns = await rows(
    `select column_name, data_type, character_set_name, column_type from information_schema.columns
      where table_schema = ? and table_name = ?`,
    place,
  )
  const [old] = columns.find(([, , , type]) => type?.includes('mariadb-5.3')) ?? []
  if (old !== undefined) {
    problems.push(`${table}.${old} has a time as before MariaDB 10.1: alter table ${MARIADB_NAME_WRITER.placeOf(from)} force;`)
  }
  const [name, type, charset, column] = columns.find(([one]) => one?.toLowerCase() === key.toLowerCase()) ?? []
  if (name === undefined) return [...problems, `${table} has no column ${key}`]
  const isRead = INTEGER_TYPES.has(type ?? '')
    ? !/zerofill/.test(column ?? '')
    : /char$|text$/.test(type ?? '') && Object.hasOwn(ENCODINGS_BY_CHARSET, charset ?? '') && !/COMPRESSED/.test(column ?? '')
  if (!isRead) {
    const keys = `whole numbers without zerofill, or texts in ${Object.keys(ENCODINGS_BY_CHARSET).join(', ')}`
    problems.push(`${table}.${key} is ${column}, and keys that are read in the log are ${keys}: write follow: poll`)
  }
  return problems
}
