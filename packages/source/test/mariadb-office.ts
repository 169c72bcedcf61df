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

export async function mariadbOffice(people: readonly OfficePerson[]): Promise<MariadbDatabase> {
  const database = await mariadbDatabase()
  for (const statement of TABLES.replaceAll(/--.*/g, '').split(';')) {
    if (statement.trim() !== '') await database.run(statement)
  }
  for (const { table, values } of people.flatMap(officeRows)) {
    await database.run(`insert into ${table} values (${values.map(() => '?').join(', ')})`, values)
  }
  return database
}
