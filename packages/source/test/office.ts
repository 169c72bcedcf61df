/**
 * A civil registry office's own database, as its software has it: numbers for codes, dates as texts in one table, a
 * mark of deletion.
 */

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { parse } from 'yaml'

const EXAMPLE = new URL('../../../examples/civil-office/', import.meta.url)
const OFFICE_SCHEMA = readFileSync(new URL('office.sql', EXAMPLE), 'utf8')

/** The source file of the office, as an operator writes it, with another address, and with time for a busy machine. */
export const officeSource = (url: object): Record<string, unknown> => ({
  ...parse(readFileSync(new URL('source.yaml', EXAMPLE), 'utf8')),
  url,
  statement_timeout: 60,
})

/** A person as the office has it. A table of children has no row for a member that is undefined. */
export interface OfficePerson {
  readonly person_no: number
  readonly national_no: string
  readonly family_name: string
  readonly given_name?: string | undefined
  readonly gender?: number | undefined
  readonly born?: string | undefined
  readonly mobile?: string | undefined
  readonly removed?: boolean
  readonly birth?: { readonly no: string; readonly place?: string | undefined } | undefined
  /** Days as dd/MM/yyyy. */
  readonly marriages?: readonly { readonly no: string; readonly married: string; readonly divorced?: string | undefined }[]
  readonly death?: { readonly no: string; readonly died: string } | undefined
}

/** The rows of a person in the tables of the office. */
export function officeRows(one: OfficePerson): readonly { readonly table: string; readonly values: unknown[] }[] {
  const { person_no, national_no, family_name, given_name, gender, born, mobile, removed, birth, death } = one
  const own = [person_no, national_no, family_name, given_name, gender, born, mobile]
  const rows = [
    { table: 'person', values: [...own, removed ? '2024-01-01 00:00:00' : null] },
    ...(birth ? [{ table: 'birth', values: [birth.no, person_no, birth.place] }] : []),
    ...(one.marriages ?? []).map(({ no, married, divorced }) => ({
      table: 'marriage',
      values: [no, person_no, married, divorced],
    })),
    ...(death ? [{ table: 'death', values: [death.no, person_no, death.died] }] : []),
  ]
  return rows.map(({ table, values }) => ({ table, values: values.map((value) => value ?? null) }))
}

export async function fillOffice(client: pg.ClientBase, people: readonly OfficePerson[]): Promise<void> {
  for (const { table, values } of people.flatMap(officeRows)) {
    const places = values.map((_, at) => `$${at + 1}`).join(', ')
    await client.query(`insert into office.${table} values (${places})`, values)
  }
}

/** Makes the office in an empty database. */
export async function makeOffice(connection: pg.ClientConfig, people: readonly OfficePerson[]): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(OFFICE_SCHEMA)
    await fillOffice(client, people)
  } finally {
    await client.end()
  }
}

/** The address of a database of the test run. */
export function addressOf({ host, port, user, password, database }: pg.ClientConfig): string {
  const url = new URL('postgresql://localhost')
  url.username = user ?? ''
  url.password = typeof password === 'string' ? password : ''
  url.port = String(port ?? 5432)
  url.pathname = `/${database}`
  if (host !== undefined) {
    if (host.startsWith('/')) url.searchParams.set('host', host)
    else url.hostname = host
  }
  return url.href
}

/** Gives the office an account that may read its tables alone. @returns its address */
export async function officeReader(connection: pg.ClientConfig): Promise<string> {
  const [user, password] = [`reader_${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')]
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(`create role ${user} login password '${password}';
      grant usage on schema office to ${user}; grant select on all tables in schema office to ${user};
      revoke create on schema public from public`)
  } finally {
    await client.end()
  }
  return addressOf({ ...connection, user, password })
}
