/** The civil registry office in MariaDB. */

import { readFileSync } from 'node:fs'
import { type MariadbDatabase, mariadbDatabase } from './mariadb.ts'
import { type OfficePerson, officeRows, officeSource } from './office.ts'

const TABLES = readFileSync(new URL('../../../examples/civil-office/office.mariadb.sql', import.meta.url), 'utf8')

/** The source file of the office, whose tables are in the database of its address. */
export function mariadbOfficeSource(url: object): Record<string, unknown> {
  const { records, ...file } = officeSource(url)
  return { ...file, engine: 'mariadb', records: JSON.parse(JSON.stringify(records).replaceAll('office.', '')) }
}

/** Makes the office in a new database. @param socketPath that of another server than the MariaDB of the run */
export async function mariadbOffice(people: readonly OfficePerson[], socketPath?: string): Promise<MariadbDatabase> {
  const database = await mariadbDatabase(socketPath)
  for (const statement of TABLES.replaceAll(/--.*/g, '').split(';')) {
    if (statement.trim() !== '') await database.run(statement)
  }
  for (const { table, values } of people.flatMap(officeRows)) {
    await database.run(`insert into ${table} values (${values.map(() => '?').join(', ')})`, values)
  }
  return database
}

/** The source file of a copy that follows the binlog; its address is in `OFFICE`. */
export function binlogSource(more: object = {}) {
  const { records, ...file } = mariadbOfficeSource({ env: 'OFFICE' }) as { records: { Person: object } }
  const { compare: _, ...person } = records.Person as { compare: object }
  return { ...file, way: 'mirror', follow: 'binlog', records: { Person: person }, ...more }
}
